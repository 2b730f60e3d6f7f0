"""Runs on the driver. The lanes of a batch that nobody has begun yet, written by Spark's JVM.

The driver knows where each lane's part of the ledger ends: it looked, or the last token was its
own. A task commits only if its token lies just there; so nobody has committed anything on that lane
in between, and no task needs to read it. Whatever else happens ends the attempt, and the batch is
taken up again by Python, which fences, reads and compares.
"""

import logging
import re
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from onceproof.sink.announcing import TakenUp
from onceproof.sink.errors import LaneError
from onceproof.sink.execution import failures_told_apart, speculates
from onceproof.sink.jvm.plan import plan, read_report
from onceproof.sink.jvm.program import NoProgramError, Program, program_for
from onceproof.sink.jvm.settings import only_pythons, producer_settings, reader_settings
from onceproof.sink.lane import OpenLane, decide, open_lane
from onceproof.sink.lineage import rdd_of
from onceproof.sink.reports import LaneReport, LaneState
from onceproof.sink.settings import Settings
from onceproof.sink.stops import foreign
from onceproof.sink.work import Work
from onceproof.sink.writing import outlasted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

THREADS_MAX = 8
FAILURES_MAX = 3
# Of ours or of Kafka's client; any other is the query's own affair.
_NOT_THERE = re.compile(
    r"(NoClassDefFoundError|ClassNotFoundException|UnsupportedClassVersionError): "
    r"(onceproof|org[./]apache[./]kafka)"
)
_log = logging.getLogger("onceproof.sink")


class JvmLanes:
    def __init__(self) -> None:
        self._program: Program | None = None
        self._is_decided = False
        self._ends: dict[int, int] = {}  # of each lane's part of the ledger
        self._generation = uuid.uuid4().hex
        self._failures = 0  # batches in a row
        self._failed_batch: int | None = None  # counted once, however often it was tried

    def can_write(self, session: "SparkSession", settings: Settings) -> bool:
        """Looked at once; why not is logged."""
        if not self._is_decided and settings.jvm:
            try:
                self._program = _program(session, dict(settings.options))
            except NoProgramError as why:
                _log.info("sink %s: rows go through Python: %s", settings.sink_id, why)
        self._is_decided = True
        if self._program is not None and self._failures >= FAILURES_MAX:
            _log.warning(
                "sink %s: %d batches in a row could not be written by Spark's JVM and were taken up"
                " by Python; from now on rows go through Python",
                settings.sink_id,
                self._failures,
            )
            self._program = None
        return self._program is not None

    def forget(self) -> None:
        """Somebody else has written lanes, or may have."""
        self._ends.clear()
        self._generation = uuid.uuid4().hex

    def find_ends(self, taken: TakenUp, work: Work) -> None:
        """Of the lanes whose last token is not our own: fenced, then read."""
        unknown = [lane for lane in range(taken.manifest.lanes) if lane not in self._ends]
        if unknown:
            self._generation = uuid.uuid4().hex  # what was fenced ahead is about to be fenced
        with ThreadPoolExecutor(THREADS_MAX) as threads:
            found = threads.map(lambda lane: _looked_at(work.settings, lane), unknown)
            for lane, opened in zip(unknown, found, strict=True):
                if decide(opened.entry, work) is not None:
                    raise foreign(taken, lane, "" if opened.entry is None else str(opened.entry))
                self._ends[lane] = opened.end

    def write(
        self, rows: "DataFrame", taken: TakenUp, work: Work, lane_of: dict[int, int]
    ) -> list[LaneReport]:
        """A report of each lane; LaneError where one was not written."""
        assert self._program is not None
        assert taken.announced_at is not None
        told = plan(
            work,
            lane_of,
            self._ends,
            generation=self._generation,
            manifest=taken.manifest.to_bytes(),
            announced_at=taken.announced_at,
            columns=rows.columns,
            producer=producer_settings(
                dict(work.settings.options), work.settings, self._program.producer_settings
            ),
            reader=reader_settings(dict(work.settings.options)),
        )
        ends, self._ends = self._ends, {}  # known again only where all is told as committed
        self._count_a_failure(work.batch)  # until it is known better
        with failures_told_apart(), self._told_if_not_there(work):
            writer = self._program.writer(told)
            answers = rdd_of(rows).toJavaRDD().mapPartitionsWithIndex(writer, False).collect()
        told_of = [read_report(answer) for answer in answers]
        if {report.partition for report, _ in told_of} != lane_of.keys():
            raise LaneError(f"batch {work.batch}: not every lane was told of")
        if all(report.state == LaneState.COMMITTED for report, _ in told_of):
            self._ends = ends | {_lane(report): end for report, end in told_of}
            self._failures, self._failed_batch = 0, None
        return [_with_its_reason(report, work) for report, _ in told_of]

    def _count_a_failure(self, batch: int) -> None:
        self._failures += batch != self._failed_batch
        self._failed_batch = batch

    @contextmanager
    def _told_if_not_there(self, work: Work) -> Iterator[None]:
        """Executors may lack what the driver has."""
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        try:
            yield
        except (PySparkException, Py4JError) as error:
            if _NOT_THERE.search(str(error)):
                raise LaneError(
                    f"batch {work.batch}: Spark's JVMs lack a class: {error}"
                ) from error
            raise


def _looked_at(settings: Settings, lane: int) -> OpenLane:
    opened = open_lane(settings, lane)
    opened.transaction.close()
    return opened


def _lane(report: LaneReport) -> int:
    assert report.lane is not None
    return report.lane


def _with_its_reason(report: LaneReport, work: Work) -> LaneReport:
    if report.state != LaneState.OUTLASTED:
        return report
    place = f"batch {work.batch}, lane {report.lane}"
    late = outlasted(place, report.write_ms, work.settings.transaction_timeout_ms)
    return replace(report, detail=f"{late}; {report.detail}")


def _program(session: "SparkSession", options: dict[str, str]) -> Program:
    if speculates(session):
        raise NoProgramError("with spark.speculation a fenced task waits for its twin")
    program = program_for(session)
    strangers = only_pythons(options, program.producer_settings)
    if strangers:
        raise NoProgramError(f"Java's client has no {', '.join(strangers)}")
    return program
