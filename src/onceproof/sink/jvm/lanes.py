"""Runs on the driver. The lanes of a batch that nobody has begun yet, written by Spark's JVM.

The driver knows where each lane's part of the ledger ends: it looked, or the last token was its
own. A task commits only if its token lies just there; so nobody has committed anything on that lane
in between, and no task needs to read it. Whatever else happens ends the attempt, and the batch is
taken up again by Python, which fences, reads and compares.
"""

import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

from onceproof.sink.announcing import TakenUp
from onceproof.sink.cut import cut_for_the_jvm
from onceproof.sink.errors import LaneError
from onceproof.sink.execution import failures_told_apart
from onceproof.sink.jvm.access import Access, told_if_not_there
from onceproof.sink.jvm.plan import plan, read_report
from onceproof.sink.jvm.program import LANE_WRITER
from onceproof.sink.jvm.settings import producer_settings, reader_settings
from onceproof.sink.lane import OpenLane, decide, open_lane
from onceproof.sink.ledger.entries import Cut
from onceproof.sink.reports import LaneReport, LaneState
from onceproof.sink.settings import Settings
from onceproof.sink.stops import foreign
from onceproof.sink.work import Work
from onceproof.sink.writing import outlasted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

THREADS_MAX = 8


class JvmLanes:
    def __init__(self, access: Access) -> None:
        self._access = access
        self._ends: dict[int, int] = {}  # of each lane's part of the ledger
        self._generation = uuid.uuid4().hex

    def can_write(self, session: "SparkSession", settings: Settings, batch_id: int) -> bool:
        return (
            not self._access.has_failed_at(batch_id)
            and self._access.program(session, settings) is not None
        )

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
        self, batch: "DataFrame", taken: TakenUp, work: Work, lane_of: dict[int, int]
    ) -> list[LaneReport]:
        """A report of each lane; LaneError where one was not written."""
        program = self._access.program(batch.sparkSession, work.settings)
        assert program is not None
        assert taken.announced_at is not None
        manifest = taken.manifest
        rdd, columns = cut_for_the_jvm(
            batch, Cut(manifest.cut), manifest.lanes, work.settings.topic
        )
        told = plan(
            work,
            lane_of,
            self._ends,
            generation=self._generation,
            manifest=manifest.to_bytes(),
            announced_at=taken.announced_at,
            columns=columns,
            producer=producer_settings(
                dict(work.settings.options), work.settings, program.producer_settings
            ),
            reader=reader_settings(dict(work.settings.options)),
        )
        ends, self._ends = self._ends, {}  # known again only where all is told as committed
        self._access.begin(work.batch)
        with failures_told_apart(), told_if_not_there(work.batch):
            writer = program.writer(LANE_WRITER, told)
            answers = rdd.toJavaRDD().mapPartitionsWithIndex(writer, False).collect()
        told_of = [read_report(answer) for answer in answers]
        if {report.partition for report, _ in told_of} != lane_of.keys():
            raise LaneError(f"batch {work.batch}: not every lane was told of")
        if all(report.state == LaneState.COMMITTED for report, _ in told_of):
            self._ends = ends | {_lane(report): end for report, end in told_of}
            self._access.succeed()
        return [_with_its_reason(report, work) for report, _ in told_of]


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
