"""Brokers that have forgotten the sink's transactional ids, and what their producers wrote last.

    batch ──▶ ids unused ──▶ forgotten (here after 2 s, as a rule after 7 days) ──▶ next batch

The ledger is the memory, not the id: whoever comes next is made a new producer, and whoever held
the id before is nobody.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from committed import committed
from pyspark.sql import DataFrame, SparkSession

from onceproof.cluster import topics
from onceproof.cluster.local import LocalCluster
from onceproof.deadline import Deadline, pause
from onceproof.sink import ExactlyOnceKafka, exactly_once_kafka, leader
from onceproof.sink.errors import LaneError
from onceproof.sink.lane import carry_out, open_lane
from onceproof.sink.rows import LaneRows
from onceproof.sink.work import Work

ROWS = 40
QUERY = "q-1"
FORGOTTEN_S_MAX = 30.0
FORGETFUL = {
    "transactional.id.expiration.ms": "2000",
    "transaction.remove.expired.transaction.cleanup.interval.ms": "500",
    "producer.id.expiration.ms": "2000",
    "producer.id.expiration.check.interval.ms": "500",
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    folder: Path = tmp_path_factory.mktemp("forgetful")
    with LocalCluster.start(
        directory=folder / "data", logs=folder, brokers=1, properties=FORGETFUL
    ) as started:
        yield started


class Bench:
    """An output topic and its sink, called as foreachBatch would call it."""

    def __init__(self, cluster: LocalCluster, spark: SparkSession, name: str) -> None:
        self._cluster, self._spark, self.name = cluster, spark, name
        topics.create_topic(cluster.client(), name, partitions=2)

    def sink(self, **way: Any) -> ExactlyOnceKafka:
        return exactly_once_kafka(
            sink_id=self.name,
            topic=self.name,
            lanes=2,
            options={"kafka.bootstrap.servers": self._cluster.bootstrap("suspects")},
            small_lane_bytes=0,
            **{"small_batch_bytes": 0, "jvm": False, **way},
        )

    def rows(self, batch: int) -> DataFrame:
        return self._spark.range(ROWS).selectExpr(
            "CAST(id AS STRING) AS key", f"concat('{batch}-', id) AS value"
        )

    def wait_until_forgotten(self) -> None:
        assert self._known()
        deadline = Deadline(FORGOTTEN_S_MAX)
        while known := self._known():
            assert not deadline.expired(), f"the brokers still know {known}"
            pause(0.2)

    def _known(self) -> list[str]:
        listed = topics.list_transactions(self._cluster.client())
        return [each.transactional_id for each in listed if self.name in each.transactional_id]

    def visible(self) -> list[str]:
        return sorted(each.value().decode() for each in committed(self._cluster, self.name))


@pytest.fixture
def bench(
    cluster: LocalCluster,
    spark: SparkSession,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> Bench:
    # Called without a streaming query around it, so the query's id is given by hand.
    monkeypatch.setattr(leader, "query_of", lambda _: QUERY)
    return Bench(cluster, spark, f"sink-{abs(hash(request.node.name))}")


def expected(batches: int) -> list[str]:
    return sorted(f"{batch}-{row}" for batch in range(batches) for row in range(ROWS))


@pytest.mark.parametrize(
    "way",
    [{}, {"small_batch_bytes": 2**20}, {"fast": False}, {"jvm": True}],
    ids=["lanes", "whole", "plain", "jvm"],
)
def test_a_sink_whose_ids_are_forgotten_goes_on(bench: Bench, way: dict[str, Any]) -> None:
    sink = bench.sink(**way)
    sink(bench.rows(0), 0)
    assert sink.last_batch is not None
    assert (sink.last_batch.writer == "jvm") == way.get("jvm", False)
    bench.wait_until_forgotten()  # that of the producer which was made ahead, too
    sink(bench.rows(1), 1)
    bench.wait_until_forgotten()
    successor = bench.sink(**way)
    successor(bench.rows(1), 1)  # replayed
    successor(bench.rows(2), 2)
    assert bench.visible() == expected(3)


@pytest.mark.parametrize("fast", [True, False], ids=["fast", "plain"])
def test_who_held_a_forgotten_id_before_its_successor_commits_nothing(
    bench: Bench, *, fast: bool
) -> None:
    sink = bench.sink(fast=fast)
    sink(bench.rows(0), 0)
    settings = sink._announcer.settings
    zombie = open_lane(settings, 0)
    bench.wait_until_forgotten()
    sink(bench.rows(1), 1)
    value = {"value": b"of a zombie", "__hash": 1}
    rows = LaneRows([pyarrow.RecordBatch.from_pylist([value])])
    work = Work(settings=settings, query=QUERY, batch=1, announcement="zombie")
    with pytest.raises(LaneError):
        carry_out(zombie, work, rows, partition=0)
    assert bench.visible() == expected(2)
