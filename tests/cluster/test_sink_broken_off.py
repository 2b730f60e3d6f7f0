"""Spark breaks rows off in the middle, and says nothing: none of them is committed, nor of their
lane, nor of a batch that is written whole.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from committed import committed
from confluent_kafka import Producer
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql.streaming import StreamingQuery

from onceproof.cluster import topics
from onceproof.cluster.local import LocalCluster
from onceproof.deadline import Deadline, wait_until
from onceproof.sink import exactly_once_kafka
from onceproof.sink.jvm.lanes import JvmLanes
from onceproof.sink.jvm.whole import JvmWhole

# An Arrow batch has 10,000 rows: three of them have come when the fourth breaks off.
RECORDS = 45_000
BREAKS_OFF_AT = 35_000
RUN_S_MAX = 120.0
NUMBER = "CAST(CAST(value AS STRING) AS INT)"
AS_IT_IS = "value"
# In Spark's JVM: a Python function before the sink would break off by itself.
FAILING = f"IF({NUMBER} = {BREAKS_OFF_AT}, raise_error('the source broke'), value) AS value"
# From the second Arrow batch on some four seconds for each.
SLOW = (
    f"IF({NUMBER} < 10000 OR {NUMBER} % 3 > 0"
    " OR reflect('java.lang.Thread', 'sleep', 1L) IS NOT NULL, value, value) AS value"
)


class Line:
    """A topic of one partition, copied by a lane that an executor writes."""

    def __init__(
        self, cluster: LocalCluster, spark: SparkSession, folder: Path, name: str, way: str
    ) -> None:
        self._way = way
        self._cluster = cluster
        self._spark = spark
        self._folder = folder
        self._bootstrap = cluster.bootstrap("suspects")
        self.source, self.output = f"in-{name}", f"out-{name}"
        for topic in (self.source, self.output):
            topics.create_topic(cluster.client(), topic, partitions=1)
        producer = Producer({"bootstrap.servers": self._bootstrap, "linger.ms": 50})
        for number in range(RECORDS):
            producer.produce(self.source, key=f"k{number % 17}", value=str(number))
            producer.poll(0)
        producer.flush()

    def start(self, value: str) -> StreamingQuery:
        sink = exactly_once_kafka(
            sink_id=f"sink-{self.output}",
            topic=self.output,
            options={"kafka.bootstrap.servers": self._bootstrap},
            small_batch_bytes=2**20 if self._way == "whole" else 0,
            jvm=self._way != "python",
        )
        source = (
            self._spark.readStream.format("kafka")
            .option("kafka.bootstrap.servers", self._bootstrap)
            .option("subscribe", self.source)
            .option("startingOffsets", "earliest")
            .load()
        )
        return (
            source.selectExpr("key", value)
            .writeStream.foreachBatch(sink)
            .option("checkpointLocation", str(self._folder / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )

    def finish(self) -> None:
        assert self.start(AS_IT_IS).awaitTermination(RUN_S_MAX)

    def wait_until_rows_are_on_their_way(self) -> None:
        client = self._cluster.client()
        wait_until(
            lambda: topics.end_offsets(client, self.output)[0] > 0,
            Deadline(RUN_S_MAX),
            f"no row came to {self.output}",
        )

    def visible(self) -> list[int]:
        return sorted(int(each.value()) for each in committed(self._cluster, self.output))


@pytest.fixture(params=["python", "jvm", "whole"])
def line(
    cluster: LocalCluster,
    spark: SparkSession,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Line]:
    begun: list[str] = []
    for way, writer in (("jvm", JvmLanes), ("whole", JvmWhole)):

        def write(self: Any, *given: Any, way: str = way, real: Any = writer.write) -> Any:
            begun.append(way)
            return real(self, *given)

        monkeypatch.setattr(writer, "write", write)
    yield Line(cluster, spark, tmp_path, str(abs(hash(request.node.name))), request.param)
    # By whom what broke off was written.
    assert set(begun) == ({request.param} - {"python"})


def test_a_source_that_fails_in_the_middle_of_a_lane_leaves_nothing_of_it(line: Line) -> None:
    with pytest.raises(StreamingQueryException, match="the source broke"):
        line.start(FAILING).awaitTermination(RUN_S_MAX)
    assert line.visible() == []
    line.finish()
    assert line.visible() == list(range(RECORDS))


def test_a_query_that_is_stopped_in_the_middle_of_a_lane_leaves_nothing_of_it(line: Line) -> None:
    query = line.start(SLOW)
    line.wait_until_rows_are_on_their_way()
    query.stop()
    assert line.visible() == []
    line.finish()
    assert line.visible() == list(range(RECORDS))
