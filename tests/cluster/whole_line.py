"""A topic's count by key written to another whole, by a query that can be started again."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from committed import committed
from confluent_kafka import Producer
from pyspark.sql import DataFrame, SparkSession

from onceproof.cluster import topics
from onceproof.cluster.local import LocalCluster
from onceproof.sink import ExactlyOnceKafka, exactly_once_kafka

RECORDS = 60
RUN_S_MAX = 120


class Death(Exception):
    pass


class Pipeline:
    def __init__(
        self, cluster: LocalCluster, spark: SparkSession, folder: Path, *, jvm: bool
    ) -> None:
        self.cluster, self.spark, self.checkpoint = cluster, spark, folder / "checkpoint"
        self.name = f"whole{abs(hash(str(folder)))}"
        self.jvm = jvm
        for topic in (f"{self.name}-in", self.name):
            topics.create_topic(cluster.client(), topic, partitions=2)
        self.shape = "concat(count, '') AS value"
        self.reports: list[tuple[str, bool, int]] = []

    def feed(self, records: int = RECORDS) -> None:
        producer = Producer({"bootstrap.servers": self.cluster.bootstrap("suspects")})
        for number in range(records):
            producer.produce(f"{self.name}-in", key=f"k{number % 20}", value=b"x" * 50)
        producer.flush()

    def sink(self, **changes: Any) -> ExactlyOnceKafka:
        """For Python a mebibyte is small, and not much is needed for more."""
        changes = {"small_batch_bytes": 2**20, "jvm": self.jvm, **changes}
        return exactly_once_kafka(
            sink_id=self.name,
            topic=self.name,
            options={"kafka.bootstrap.servers": self.cluster.bootstrap("suspects")},
            on_batch=lambda done: self.reports.append((done.cut, done.is_replay, done.rows)),
            **changes,
        )

    def run(self, sink: Callable[[DataFrame, int], None]) -> None:
        source = self.spark.readStream.format("kafka").options(
            **{"kafka.bootstrap.servers": self.cluster.bootstrap("suspects")},
            subscribe=f"{self.name}-in",
            startingOffsets="earliest",
        )
        counts: DataFrame = source.load().groupBy("key").count()
        query = (
            counts.selectExpr("key", self.shape)
            .writeStream.outputMode("update")
            .foreachBatch(sink)
            .option("checkpointLocation", str(self.checkpoint))
            .trigger(availableNow=True)
            .start()
        )
        assert query.awaitTermination(RUN_S_MAX)

    def counts(self) -> dict[bytes, list[int]]:
        """All that were written for each key, in order."""
        found: dict[bytes, list[int]] = {}
        for each in committed(self.cluster, self.name):
            found.setdefault(each.key(), []).append(int(each.value()))
        return found


def each_key(*counts: int) -> dict[bytes, list[int]]:
    return {f"k{key}".encode(): list(counts) for key in range(20)}


def die_after_the_commit(
    line: Pipeline, monkeypatch: pytest.MonkeyPatch, writer: type, name: str
) -> None:
    """The driver dies before Spark knows that its batch is written (by that method)."""
    real = getattr(writer, name)

    def die_after(*given: object) -> None:
        real(*given)
        raise Death("after the commit")

    with monkeypatch.context() as death:
        death.setattr(writer, name, die_after)
        with pytest.raises(Exception, match="after the commit"):
            line.run(line.sink())
