"""A sink whose lanes Spark's JVM writes, called as foreachBatch would call it, and what may happen
meanwhile.
"""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from committed import committed
from pyspark.sql import DataFrame, SparkSession

from onceproof.cluster import topics
from onceproof.cluster.local import LocalCluster
from onceproof.sink import ExactlyOnceKafka, exactly_once_kafka, laned
from onceproof.sink.jvm import program
from onceproof.sink.jvm.lanes import JvmLanes
from onceproof.sink.jvm.whole import JvmWhole
from onceproof.sink.ledger.entries import Token, lane_partition
from onceproof.sink.ledger.reader import last_entry
from onceproof.sink.reports import LaneReport

QUERY = "q-1"
LANES = 3
ROWS = 400
PARTITIONS = 3

Passes = list[list[LaneReport]]


class Bench:
    """One output topic and its sink, called as foreachBatch would call it."""

    def __init__(self, cluster: LocalCluster, spark: SparkSession, name: str) -> None:
        self.cluster = cluster
        self.spark = spark
        self.topic = f"out-{name}"
        topics.create_topic(cluster.client(), self.topic, partitions=PARTITIONS)

    def sink(self, *, lanes: int = LANES, **changes: Any) -> ExactlyOnceKafka:
        options = {"kafka.bootstrap.servers": self.cluster.bootstrap("suspects")}
        options |= changes.pop("options", {})
        given = {"topic": self.topic, "small_batch_bytes": 0, "jvm": True, **changes}
        return exactly_once_kafka(
            sink_id=f"sink-{self.topic}", lanes=lanes, options=options, **given
        )

    def rows(self, batch: int) -> DataFrame:
        return self.spark.range(ROWS).selectExpr(
            "CAST(id AS STRING) AS key", f"concat('{batch}-', id) AS value"
        )

    def visible(self) -> list[str]:
        return sorted(each.value().decode() for each in committed(self.cluster, self.topic))

    def tokens(self, sink: ExactlyOnceKafka) -> list[Token]:
        settings = sink._announcer.settings
        found = [last_entry(settings, lane_partition(lane)) for lane in range(LANES)]
        return [entry for entry in found if isinstance(entry, Token)]


def expected(*batches: int) -> list[str]:
    return sorted(f"{batch}-{row}" for batch in batches for row in range(ROWS))


def states(passes: Passes) -> list[set[str]]:
    return [{report.state for report in reports} for reports in passes]


def written_by_a_twin_first(
    sink: ExactlyOnceKafka, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> list[LaneReport]:
    """Batch 1: its lanes are written by another attempt of the very tasks, whose reports are lost,
    and then by the sink. The lost reports.
    """
    lost: list[LaneReport] = []

    def twin(lanes: JvmLanes, _taken: Any) -> None:
        ends = dict(lanes._ends)
        sink._announcer.confirm()  # as a task waits for the manifest
        batch, taken, work, lane_of = staged[0]
        lost.extend(JvmLanes.write(lanes, batch, taken, work, lane_of))
        lanes._ends = ends

    staged: list[Any] = []
    stage_the_pass(monkeypatch, staged)
    meanwhile(monkeypatch, twin)
    sink(bench.rows(1), 1)
    return lost


def meanwhile(
    monkeypatch: pytest.MonkeyPatch, happen: Callable[[JvmLanes, Any], None], times: int = 1
) -> None:
    """After the driver has looked where the ledger ends, and before the lanes are written."""
    real, left = JvmLanes.find_ends, [times]

    def find_ends(lanes: JvmLanes, taken: Any, work: Any) -> None:
        real(lanes, taken, work)
        if left[0]:
            left[0] -= 1
            happen(lanes, taken)

    monkeypatch.setattr(JvmLanes, "find_ends", find_ends)


def stage_the_pass(monkeypatch: pytest.MonkeyPatch, staged: list[Any]) -> None:
    """What the pass will be made of, before it is made."""
    real = laned.LanedBatches._pass_in_the_jvm

    def staging(batches: Any, batch: DataFrame, taken: Any, lane_of: dict[int, int]) -> Any:
        staged.append((batch, taken, laned._work(taken), lane_of))
        return real(batches, batch, taken, lane_of)

    monkeypatch.setattr(laned.LanedBatches, "_pass_in_the_jvm", staging)


def whole(bench: Bench, **changes: Any) -> ExactlyOnceKafka:
    """As after a batch: of the first one nobody knows how long it will take, but over Kafka."""
    sink = bench.sink(small_batch_bytes=2**20, **changes)
    sink._expectation.learn(written_bytes=1, seconds=0.1)
    return sink


def meanwhile_whole(monkeypatch: pytest.MonkeyPatch, happen: Callable[[], None]) -> None:
    """Once, when the driver has made up its mind about a batch, and before its tasks begin."""
    real, left = JvmWhole._written, [1]

    def written(self: JvmWhole, *given: Any) -> Any:
        if left[0]:
            left[0] = 0
            happen()
        return real(self, *given)

    monkeypatch.setattr(JvmWhole, "_written", written)


def written_by_another_driver_first(
    sink: ExactlyOnceKafka, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Batch 1, while this one keeps no producer: it fences the other one, and does not know it."""
    sink(bench.rows(0), 0)
    other = whole(bench, jvm=False)

    def lead() -> None:
        other(bench.rows(1), 1)
        sink._jvm_whole._generation = "another: what is kept is of no use"

    meanwhile_whole(monkeypatch, lead)
    sink(bench.rows(1), 1)


def plant(name: str, mistake: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program beside the real one: its classes are in a package of their own."""
    real, package = program._text, f"onceproof.mistakes.{name}"

    def mistaken(source: str) -> str:
        text = real(source).replace("package onceproof.sink;", f"package {package};")
        for right, wrong in mistake.items():
            found[right] += text.count(right)
            text = text.replace(right, wrong)
        return text

    found = dict.fromkeys(mistake, 0)
    for source in program.SOURCES:
        mistaken(source)
    assert set(found.values()) == {1}, found
    monkeypatch.setattr(program, "_text", mistaken)
    monkeypatch.setattr(program, "PACKAGE", package)
    monkeypatch.setattr(program, "_ready", {})
