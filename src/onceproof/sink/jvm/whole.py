"""Runs on the driver. A batch whole, written by Spark's tasks, where all of them share one JVM.

That is a Spark whose master is `local`. Nothing has to be collected there: the tasks write one
transaction of the driver's id with one producer, and the task that is done last writes the manifest
and commits. The driver knows where the manifests' part of the ledger ends: it looked, or the last
one was its own. The manifest is committed only if it lies just there, so nobody has led since.

The next batch's producer is made and fenced ahead, in the JVM; nothing has to be read. Who leads
meanwhile fences it, and then its commit fails.
"""

import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from onceproof.sink.announcing import Announcer, TakenUp
from onceproof.sink.cut import Lanes, cut_for_the_jvm
from onceproof.sink.errors import LaneError, OutlastedError
from onceproof.sink.execution import failures_told_apart
from onceproof.sink.jvm.access import Access, told_if_not_there
from onceproof.sink.jvm.plan import plan_whole, read_report
from onceproof.sink.jvm.program import WHOLE_WRITER, Program
from onceproof.sink.jvm.settings import producer_settings
from onceproof.sink.ledger.entries import Cut, Manifest
from onceproof.sink.reports import LaneReport, LaneState
from onceproof.sink.writing import outlasted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, kw_only=True)
class LastWord:
    """Of the manifests: the last one, and where their part of the ledger ends."""

    manifest: Manifest | None
    end: int


class JvmWhole:
    writer = "jvm"
    driver_lanes_ms = 0.0

    def __init__(self, announcer: Announcer, access: Access) -> None:
        self.tasks_ms = 0.0  # of the last batch
        self._announcer = announcer
        self._access = access
        self._word: LastWord | None = None  # this run's own
        self._generation = uuid.uuid4().hex

    def can_write(self, session: "SparkSession", batch_id: int) -> bool:
        if not _shares_one_jvm(session) or self._access.has_failed_at(batch_id):
            return False
        return self._access.program(session, self._announcer.settings) is not None

    def own_word(self, query: str, batch_id: int) -> LastWord | None:
        """What this run has written last, if the batch is just the next one: then there is nothing
        to fence, to read or to judge.
        """
        word = self._word
        if word is None or word.manifest is None:
            return None
        is_next = (word.manifest.query, word.manifest.batch + 1) == (query, batch_id)
        return word if is_next else None

    def forget(self) -> None:
        """Somebody else leads, or may have led."""
        self._word = None
        self._generation = uuid.uuid4().hex  # what is fenced ahead is of no use any more

    def write(
        self, batch: "DataFrame", word: LastWord, query: str, batch_id: int
    ) -> tuple[TakenUp, LaneReport]:
        settings = self._announcer.settings
        program = self._access.program(batch.sparkSession, settings)
        assert program is not None
        manifest = self._announcer.manifest(
            word.manifest, query, batch_id, Lanes(cut=Cut.WHOLE, count=0)
        )
        with self._forgotten_if_raised():
            began = time.monotonic()
            report, end = self._written(batch, program, manifest, word.end)
            self.tasks_ms = (time.monotonic() - began) * 1000
            self._announcer.has_announced(manifest)
        written = replace(manifest, rows=report.rows, digest=report.digest)
        self._word = LastWord(manifest=written, end=end)
        return TakenUp(settings=settings, manifest=written, is_replay=False), report

    def _written(
        self, batch: "DataFrame", program: Program, manifest: Manifest, end: int
    ) -> tuple[LaneReport, int]:
        settings = self._announcer.settings
        rdd, columns = cut_for_the_jvm(batch, Cut.WHOLE, 0, settings.topic)
        partitions = int(rdd.getNumPartitions())
        rows = rdd.toJavaRDD() if partitions else _of_one_empty_partition(batch.sparkSession)
        told = plan_whole(
            manifest,
            settings,
            end,
            partitions=max(1, partitions),
            generation=self._generation,
            columns=columns,
            producer=_producer(dict(settings.options), program, self._announcer),
        )
        self._access.begin(manifest.batch)
        with failures_told_apart(), told_if_not_there(manifest.batch):
            writer = program.writer(WHOLE_WRITER, told)
            answers = rows.mapPartitionsWithIndex(writer, False).collect()
        report, ends_at = _of_the_batch([read_report(answer) for answer in answers])
        if report.state != LaneState.FAILED:
            self._access.succeed()
        _refuse(report, manifest, settings.sink_id, settings.transaction_timeout_ms)
        return report, ends_at

    @contextmanager
    def _forgotten_if_raised(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self.forget()
            raise


def _shares_one_jvm(session: "SparkSession") -> bool:
    """`local-cluster` does not."""
    master = str(session.sparkContext.master)
    return master == "local" or master.startswith("local[")


def _of_one_empty_partition(session: "SparkSession") -> Any:
    """A batch that is known to be empty has none, and somebody must write its manifest."""
    context: Any = session.sparkContext
    return context._jsc.parallelize(context._gateway.jvm.java.util.ArrayList(), 1)


def _producer(options: Mapping[str, str], program: Program, announcer: Announcer) -> dict[str, str]:
    return producer_settings(options, announcer.settings, program.producer_settings)


def _of_the_batch(told: list[tuple[LaneReport, int]]) -> tuple[LaneReport, int]:
    """That of the task that was done last; or of one that tells how the batch failed."""
    for state in (LaneState.OUTLASTED, LaneState.FAILED, LaneState.COMMITTED):
        for report, end in told:
            if report.state == state:
                return report, end
    raise LaneError("no task of the batch was the last")


def _refuse(report: LaneReport, manifest: Manifest, sink_id: str, timeout_ms: int) -> None:
    place = f"sink {sink_id}, batch {manifest.batch}"
    if report.state == LaneState.OUTLASTED:
        late = outlasted(place, report.write_ms, timeout_ms)
        raise OutlastedError(f"{late}; {report.detail}")
    if report.state == LaneState.FAILED:
        raise LaneError(f"{place}: {report.detail}")
