"""Runs on the driver. A batch in lanes: Spark's tasks write them, each in its own transaction.

new      all lanes write, once the manifest is committed
replay   the manifest is committed again under a new name, then all lanes are fenced and their
         tokens read; if some are committed, the replayed rows must be theirs; only then do the
         missing lanes write
"""

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from onceproof.sink.announcing import Announcer, TakenUp
from onceproof.sink.cut import Lanes, cut_batch, lanes_again
from onceproof.sink.digest import digest_of_all
from onceproof.sink.driver_lanes import DriverLanes
from onceproof.sink.errors import LaneError, OwnershipError
from onceproof.sink.execution import cancelled_if, run_tasks, speculates
from onceproof.sink.jvm.access import Access
from onceproof.sink.jvm.lanes import JvmLanes
from onceproof.sink.lane import decide, require_manifest
from onceproof.sink.ledger.entries import Cut, Decision, Token
from onceproof.sink.ledger.topic import ensure_ledger
from onceproof.sink.replay import lanes_by_partition, unmatched
from onceproof.sink.reports import LaneReport, LaneState, empty_lane
from onceproof.sink.stops import (
    does_not_match,
    foreign,
    other_partitions,
    refuse,
    whole_does_not_match,
)
from onceproof.sink.task import Task
from onceproof.sink.work import Work

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


_log = logging.getLogger("onceproof.sink")
# What may come of a manifest that is refused: lanes that wait for it, lanes that a later one wrote.
_MAY_FOLLOW = (LaneError, OwnershipError)


class LanedBatches:
    def __init__(self, announcer: Announcer, access: Access) -> None:
        self._announcer = announcer
        self._lanes = DriverLanes(announcer.settings)
        self._jvm = JvmLanes(access)
        self.tasks_ms = self.driver_lanes_ms = 0.0  # of the last batch
        self.writer = "python"  # of the last batch, or "jvm"

    def let_go(self) -> None:
        self._lanes.let_go()

    def write(self, batch: "DataFrame", taken: TakenUp, lanes: Lanes) -> list[LaneReport]:
        self._begin(taken)
        lane_of = _lane_of(taken, lanes)
        if self._jvm.can_write(batch.sparkSession, taken.settings, taken.manifest.batch):
            return self._pass_in_the_jvm(batch, taken, lane_of)
        return self._pass(batch, taken, lane_of)

    def replay(self, batch: "DataFrame", taken: TakenUp) -> list[LaneReport]:
        """Fence all lanes, read all tokens, compare, and only then write what is missing."""
        self._begin(taken)
        self._jvm.forget()
        ensure_ledger(taken.settings, taken.manifest.lanes)
        committed = self._committed(taken)
        if taken.decision is Decision.SKIP:
            self._lanes.close_open()
            return self._skipped(batch, taken, committed)
        lane_of = _lane_of(taken, lanes_again(batch, taken.manifest))
        if not committed:
            return self._pass(batch, taken, lane_of)
        kept = batch.persist()  # evaluated twice: once to compare, once to write
        try:

            def compare(reports: list[LaneReport]) -> list[LaneReport]:
                return _compared(_with_empty_ones(reports, lane_of), lane_of, committed, taken)

            already = compare(self._measure(kept, taken))
            missing = {part: lane for part, lane in lane_of.items() if lane not in committed}
            if not missing:
                self._lanes.close_open()
                return already
            # Compared once more: what was kept may be lost with an executor, and computed anew.
            return already + self._pass(kept, taken, missing, compare)
        finally:
            kept.unpersist()

    def replay_whole(self, batch: "DataFrame", taken: TakenUp) -> LaneReport:
        """It is committed, all of it. Computed again for its state, and compared."""
        self._begin(taken)
        self._jvm.forget()
        of = taken.manifest
        reports = self._measure(batch, taken)
        rows = sum(report.rows for report in reports)
        digest = digest_of_all(report.digest for report in reports)
        if taken.decision is None and (of.rows, of.digest) != (rows, digest):
            raise whole_does_not_match(taken, rows, digest)
        return LaneReport(
            partition=0,
            lane=None,
            state=LaneState.ALREADY.value,
            rows=rows,
            digest=digest,
            size=sum(report.size for report in reports),
        )

    def _begin(self, taken: TakenUp) -> None:
        self.tasks_ms = self.driver_lanes_ms = 0.0
        self.writer = "python"
        self._lanes.use(taken.settings)

    def _committed(self, taken: TakenUp) -> dict[int, Token]:
        """Each lane fenced, then its token read; those of this batch."""
        work = _work(taken)
        entries = self._lanes.fence_all(taken.manifest.lanes)
        require_manifest(work)
        found = {}
        for lane, entry in entries.items():
            state = decide(entry, work)
            if state is LaneState.FOREIGN:
                raise foreign(taken, lane, "" if entry is None else entry.to_bytes().decode())
            if state is LaneState.ALREADY and isinstance(entry, Token):
                found[lane] = entry
        return found

    def _skipped(
        self, batch: "DataFrame", taken: TakenUp, committed: dict[int, Token]
    ) -> list[LaneReport]:
        """Computed for its state alone."""
        reports = self._measure(batch, taken)
        _log.warning(
            "sink %s: batch %d is skipped by a ruling in the ledger: of its %d rows the %d of lanes"
            " %s are committed, the others are not written and will not be",
            taken.settings.sink_id,
            taken.manifest.batch,
            sum(report.rows for report in reports),
            sum(token.rows for token in committed.values()),
            ", ".join(str(lane) for lane in committed) or "none",
        )
        return reports

    def _measure(self, batch: "DataFrame", taken: TakenUp) -> list[LaneReport]:
        """Computes the batch, and writes nothing."""
        return self._run(batch, taken, Task(work=_work(taken), lane_of={}, write=False))

    def _pass(
        self,
        batch: "DataFrame",
        taken: TakenUp,
        lane_of: dict[int, int],
        compare: Callable[[list[LaneReport]], object] = lambda _: None,
    ) -> list[LaneReport]:
        """One pass over all partitions that writes the lanes of `lane_of`.

        `compare` raises if the rows of the others are not what they were.
        """
        session, work = batch.sparkSession, _work(taken)
        task = Task(work=work, lane_of=lane_of, write=True, has_twins=speculates(session))
        with self._announced(session):
            reports = self._run(batch, taken, task)
        compare(reports)
        asked = [report for report in reports if report.partition in lane_of]
        began = time.monotonic()
        done = self._lanes.complete(_with_empty_ones(asked, lane_of), lane_of, work)
        self.driver_lanes_ms += (time.monotonic() - began) * 1000
        for report in done:
            refuse(report, taken)
        return done

    def _pass_in_the_jvm(
        self, batch: "DataFrame", taken: TakenUp, lane_of: dict[int, int]
    ) -> list[LaneReport]:
        """All lanes, for the first time."""
        work, began = _work(taken), time.monotonic()
        self._lanes.end_all()
        with self._announced(batch.sparkSession):
            self._jvm.find_ends(taken, work)
            reports = self._jvm.write(batch, taken, work, lane_of)
        for report in reports:
            refuse(report, taken)
        self.tasks_ms += (time.monotonic() - began) * 1000
        self.writer = "jvm"
        return reports

    @contextmanager
    def _announced(self, session: "SparkSession") -> Iterator[None]:
        """While the lanes are computed their manifest is committed: they end with it, or for it."""
        try:
            with cancelled_if(session, self._announcer.is_refused):
                yield
        except BaseException as error:
            # Why the manifest was refused says more than what came of it.
            if isinstance(error, _MAY_FOLLOW) or self._announcer.is_refused():
                self._announcer.confirm()
            raise
        self._announcer.confirm()  # no lane is written before its manifest is committed

    def _run(self, batch: "DataFrame", taken: TakenUp, task: Task) -> list[LaneReport]:
        manifest, began = taken.manifest, time.monotonic()
        rows = cut_batch(batch, Cut(manifest.cut), manifest.lanes, taken.settings.topic)
        reports = run_tasks(rows, task)
        self.tasks_ms += (time.monotonic() - began) * 1000
        return reports


def _lane_of(taken: TakenUp, lanes: Lanes) -> dict[int, int]:
    found = lanes_by_partition(lanes, taken.manifest)
    if found is None:
        raise other_partitions(taken, lanes.sources)
    return found


def _work(taken: TakenUp) -> Work:
    return Work(
        settings=taken.settings,
        query=taken.manifest.query,
        batch=taken.manifest.batch,
        announcement=taken.manifest.announcement,
        predecessors=taken.manifest.predecessors,
        verify=taken.decision is None,
    )


def _compared(
    reports: list[LaneReport], lane_of: dict[int, int], committed: dict[int, Token], taken: TakenUp
) -> list[LaneReport]:
    """The reports of the committed lanes; ReplayError if their rows are not those of their tokens.

    An operator's ruling has decided otherwise, where there is one.
    """
    by_lane = {lane_of[report.partition]: report for report in reports}
    differing = unmatched(committed, {n: (r.rows, r.digest) for n, r in by_lane.items()})
    if differing and taken.decision is None:
        raise does_not_match(taken, differing[0], by_lane[differing[0].lane])
    return [_already(by_lane[lane], lane) for lane in committed]


def _already(report: LaneReport, lane: int) -> LaneReport:
    return replace(report, lane=lane, state=LaneState.ALREADY.value)


def _with_empty_ones(reports: list[LaneReport], partitions: Iterable[int]) -> list[LaneReport]:
    """Spark runs no Python function on an empty partition: a silent one has no rows."""
    told = {report.partition: report for report in reports}
    return [told.get(n) or empty_lane(n) for n in partitions]
