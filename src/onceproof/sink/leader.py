"""Runs on the driver. Leads each batch: ownership, manifest, lanes, and the checks of a replay.

1. fence the predecessor, then read the last manifest, then judge who owns the sink
2. no manifest of b: commit one (it fixes how b is cut), then let the lanes write
3. a manifest of b is there: a replay. First all its lanes are fenced and their tokens read; if some
   are committed, the replayed rows must be theirs; only then do the missing lanes write
"""

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from onceproof.sink.announcing import Announcer, TakenUp
from onceproof.sink.cut import cut_batch
from onceproof.sink.driver_lanes import DriverLanes
from onceproof.sink.errors import LaneError
from onceproof.sink.execution import query_of, run_tasks
from onceproof.sink.lane import Work, decide
from onceproof.sink.ledger.entries import Cut, Decision, Token
from onceproof.sink.ledger.topic import ensure_ledger
from onceproof.sink.replay import match_lanes
from onceproof.sink.reports import BatchReport, LaneReport, LaneState, empty_lane
from onceproof.sink.settings import (
    LANES_DEFAULT,
    SMALL_LANE_BYTES_DEFAULT,
    Settings,
    make_settings,
)
from onceproof.sink.stops import does_not_match, foreign, refuse, too_many_partitions
from onceproof.sink.task import Task

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ATTEMPTS_MAX = 5
_log = logging.getLogger("onceproof.sink")


def exactly_once_kafka(
    *,
    sink_id: str,
    options: Mapping[str, str],
    topic: str | None = None,
    lanes: int = LANES_DEFAULT,
    ledger_topic: str | None = None,
    takeover: bool = False,
    adopt: bool = False,
    small_lane_bytes: int = SMALL_LANE_BYTES_DEFAULT,
    fast: bool = True,
    on_batch: Callable[[BatchReport], None] | None = None,
) -> "ExactlyOnceKafka":
    """The function to give to `foreachBatch`.

    sink_id   names the sink for good: its transactional ids and its ledger are called after it
    options   client settings by Spark's names, e.g. {"kafka.bootstrap.servers": "…"}
    topic     where to write; without it each row's column `topic` says so
    lanes     how many transactions may share a batch; 1 makes a batch atomic as a whole
    takeover  write although the ledger belongs to another query (another checkpoint)
    adopt     go on with a checkpoint that has passed batches without this ledger
    small_lane_bytes  lanes up to this size are written by the driver; 0: never
    fast      False: use confluent-kafka's own calls only
    on_batch  called with the metrics of each batch after it is committed
    """
    settings = make_settings(
        sink_id=sink_id,
        topic=topic,
        options=options,
        lanes=lanes,
        ledger_topic=ledger_topic,
        takeover=takeover,
        adopt=adopt,
        small_lane_bytes=small_lane_bytes,
        fast=fast,
    )
    return ExactlyOnceKafka(settings, on_batch)


class ExactlyOnceKafka:
    """Called with each micro-batch, in order, by one thread. What counts, the ledger knows."""

    def __init__(
        self, settings: Settings, on_batch: Callable[[BatchReport], None] | None = None
    ) -> None:
        self._announcer = Announcer(settings)
        self._lanes = DriverLanes(settings)
        self._on_batch = on_batch
        self._tasks_ms = self._driver_lanes_ms = 0.0
        self.last_batch: BatchReport | None = None

    @property
    def last_reports(self) -> tuple[LaneReport, ...]:
        return () if self.last_batch is None else self.last_batch.lanes

    def __call__(self, batch: "DataFrame", batch_id: int) -> None:
        query = query_of(batch.sparkSession)
        failure: Exception | None = None
        for _ in range(ATTEMPTS_MAX):
            try:
                self._attempt(batch, query, batch_id)
                break
            except LaneError as again:
                failure = again
                _log.warning("batch %d is tried again: %s", batch_id, again)
            except BaseException:
                self._let_go()
                raise
        else:
            raise LaneError(
                f"batch {batch_id} failed {ATTEMPTS_MAX} times; last: {failure}"
            ) from failure
        _log.info("%s", self.last_batch)
        if self._on_batch is not None and self.last_batch is not None:
            self._on_batch(self.last_batch)

    def _let_go(self) -> None:
        """This query ends here: nothing of it may fence its successor later."""
        self._announcer.let_go()
        self._lanes.let_go()

    def _attempt(self, batch: "DataFrame", query: str, batch_id: int) -> None:
        """What an earlier attempt committed, this one finds in the ledger: it is a replay then."""
        began = time.monotonic()
        self._tasks_ms = self._driver_lanes_ms = 0.0
        taken = self._announcer.take_up(batch, query, batch_id)
        taken_up_ms = _since(began)
        self._lanes.use(taken.settings)
        if taken.is_replay:
            reports = self._replay(batch, taken)
        else:
            reports = self._pass(batch, taken, {lane: lane for lane in range(taken.manifest.lanes)})
        self.last_batch = BatchReport(
            batch=batch_id,
            cut=taken.manifest.cut,
            is_replay=taken.is_replay,
            rows=sum(report.rows for report in reports),
            lanes=tuple(sorted(reports, key=lambda report: report.lane or 0)),
            take_up_ms=taken_up_ms,
            tasks_ms=self._tasks_ms,
            driver_lanes_ms=self._driver_lanes_ms,
            total_ms=_since(began),
        )

    def _replay(self, batch: "DataFrame", taken: TakenUp) -> list[LaneReport]:
        """Fence all lanes, read all tokens, compare, and only then write what is missing."""
        manifest = taken.manifest
        self._announcer.confirm()
        ensure_ledger(taken.settings, manifest.lanes)
        committed = self._committed(taken)
        if not committed and taken.decision is not Decision.SKIP:
            return self._pass(batch, taken, {lane: lane for lane in range(manifest.lanes)})
        kept = batch.persist()  # evaluated twice: once to compare, once to write
        try:
            measured = self._measure(kept, taken)
            if taken.decision is Decision.SKIP:
                return measured
            contents = {n: (r.rows, r.digest) for n, r in enumerate(measured)}
            match = match_lanes(Cut(manifest.cut), manifest.lanes, committed, contents)
            if match.unmatched and taken.decision is None:
                raise does_not_match(taken, match.unmatched[0], measured)
            done = [r for r in measured if r.partition not in match.lane_of]
            already = [replace(r, state=LaneState.ALREADY.value) for r in done]
            return already + (self._pass(kept, taken, match.lane_of) if match.lane_of else [])
        finally:
            kept.unpersist()

    def _committed(self, taken: TakenUp) -> dict[int, Token]:
        """Each lane fenced, then its token read; those of this batch."""
        work = self._work(taken)
        found = {}
        for lane, entry in self._lanes.fence_all(taken.manifest.lanes).items():
            state = decide(entry, work)
            if state is LaneState.FOREIGN:
                raise foreign(taken, lane, "" if entry is None else entry.to_bytes().decode())
            if state is LaneState.ALREADY and isinstance(entry, Token):
                found[lane] = entry
        return found

    def _measure(self, batch: "DataFrame", taken: TakenUp) -> list[LaneReport]:
        task = Task(work=self._work(taken), lane_of={}, write=False)
        reports = self._run(batch, taken, task)
        return _with_empty_ones(reports, range(taken.manifest.lanes))

    def _pass(
        self, batch: "DataFrame", taken: TakenUp, lane_of: dict[int, int]
    ) -> list[LaneReport]:
        """One pass over all partitions that writes the lanes of `lane_of`."""
        work = self._work(taken)
        reports = self._run(batch, taken, Task(work=work, lane_of=lane_of, write=True))
        self._announcer.confirm()  # no lane is written before its manifest is committed
        asked = [report for report in reports if report.partition in lane_of]
        began = time.monotonic()
        done = self._lanes.complete(_with_empty_ones(asked, lane_of), lane_of, work)
        self._driver_lanes_ms += _since(began)
        for report in done:
            refuse(report, taken)
        return done

    def _run(self, batch: "DataFrame", taken: TakenUp, task: Task) -> list[LaneReport]:
        manifest, began = taken.manifest, time.monotonic()
        rows = cut_batch(batch, Cut(manifest.cut), manifest.lanes, taken.settings.topic)
        reports = run_tasks(rows, task)
        self._tasks_ms += _since(began)
        strays = sorted({r.partition for r in reports} - set(range(manifest.lanes)))
        if strays:
            raise too_many_partitions(taken, strays[-1])
        return reports

    def _work(self, taken: TakenUp) -> Work:
        return Work(
            settings=taken.settings,
            query=taken.manifest.query,
            batch=taken.manifest.batch,
            verify=taken.decision is None,
        )


def _since(began: float) -> float:
    return (time.monotonic() - began) * 1000


def _with_empty_ones(reports: list[LaneReport], partitions: Iterable[int]) -> list[LaneReport]:
    """Spark runs no Python function on an empty partition: a silent one has no rows."""
    told = {report.partition: report for report in reports}
    return [told.get(n) or empty_lane(n) for n in partitions]
