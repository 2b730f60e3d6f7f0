"""What takes its time: the last epoch of an id, a broker gone for half a minute, a quota."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition
from kafka.protocol.admin import AlterClientQuotasRequest
from kafka.protocol.producer import InitProducerIdRequest
from pyspark.sql import SparkSession

from onceproof.cluster import roles, topics
from onceproof.cluster.client import BrokerClient
from onceproof.cluster.local import LocalCluster
from onceproof.deadline import Deadline
from onceproof.sink import ExactlyOnceKafka, exactly_once_kafka, leader
from onceproof.trial.spark import JudgeSpark

pytestmark = [pytest.mark.jury, pytest.mark.timeout(1800)]
LAST_EPOCH = 32_767
CONCURRENT_TRANSACTIONS = 51
GONE_S = 30.0
ROWS = 200
PADDING = 500  # bytes a value
BYTES_PER_S = 8_000.0  # of each broker


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    folder: Path = tmp_path_factory.mktemp("endurance")
    with LocalCluster.start(directory=folder / "data", logs=folder) as started:
        yield started


class Line:
    """An output topic and its sink, called as foreachBatch would call it."""

    def __init__(self, cluster: LocalCluster, spark: SparkSession, name: str) -> None:
        self.cluster, self.name, self._spark = cluster, name, spark
        topics.create_topic(cluster.client(), name, partitions=3)

    def sink(
        self, *, small_batch_bytes: int = 0, jvm: bool = False, **options: str
    ) -> ExactlyOnceKafka:
        """In lanes, by executors, unless batches may be small."""
        return exactly_once_kafka(
            sink_id=self.name,
            topic=self.name,
            lanes=3,
            options={
                "kafka.bootstrap.servers": self.cluster.bootstrap("suspects"),
                **options,
            },
            small_lane_bytes=0,
            small_batch_bytes=small_batch_bytes,
            jvm=jvm,
        )

    def write(self, sink: ExactlyOnceKafka, batch: int) -> None:
        first = batch * ROWS
        rows = self._spark.range(first, first + ROWS)
        value = f"lpad(CAST(id AS STRING), {PADDING}, '0') AS value"
        sink(rows.selectExpr("CAST(id AS STRING) AS key", value), batch)

    def visible(self) -> list[int]:
        consumer = Consumer(
            {
                "bootstrap.servers": self.cluster.bootstrap("judge"),
                "group.id": "reader",
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
            }
        )
        topics.wait_settled(self.cluster.client(), self.name, Deadline(60))
        seen = []
        try:
            for partition in range(3):
                consumer.assign([TopicPartition(self.name, partition, 0)])
                while (message := consumer.poll(15.0)) is not None and message.error() is None:
                    seen.append(int(message.value()))
                assert message is not None
        finally:
            consumer.close()
        return sorted(seen)


@pytest.fixture
def line(
    cluster: LocalCluster,
    judge_spark: JudgeSpark,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> Line:
    # Called without a streaming query around it, so the query's id is given by hand.
    monkeypatch.setattr(leader, "query_of", lambda _: "q")
    return Line(cluster, judge_spark.session, f"line-{abs(hash(request.node.name))}")


@pytest.mark.parametrize("jvm", [False, True], ids=["lanes", "jvm"])
def test_past_the_last_epoch_of_an_id_the_brokers_hand_out_a_new_producer_id(
    line: Line, *, jvm: bool
) -> None:
    sink = line.sink(jvm=jvm)
    line.write(sink, 0)
    lane = f"{line.name}-lane-0"
    client = line.cluster.client()
    coordinator = roles.transaction_coordinator(client, lane)
    producer_ids = {init(client, coordinator, lane) for _ in range(LAST_EPOCH + 10)}
    assert len(producer_ids) == 2
    successor = line.sink(jvm=jvm)
    line.write(successor, 1)
    assert writer_of(sink) == writer_of(successor) == ("jvm" if jvm else "python")
    assert line.visible() == list(range(2 * ROWS))


def init(client: BrokerClient, coordinator: int, transactional_id: str) -> int:
    """What init_transactions asks for, without a producer around it; the producer's id."""
    request = InitProducerIdRequest(
        transactional_id=transactional_id,
        transaction_timeout_ms=60_000,
        producer_id=-1,
        producer_epoch=-1,
    )
    while True:
        answer: Any = client.ask(coordinator, request)
        if answer.error_code != CONCURRENT_TRANSACTIONS:
            assert answer.error_code == 0
            return int(answer.producer_id)


@pytest.mark.parametrize(
    ("small_batch_bytes", "jvm", "who"),
    [
        (0, False, "lane-1"),
        (0, True, "lane-1"),
        (2**20, False, "driver"),
        (2**20, True, "driver"),
    ],
    ids=["lanes", "jvm", "whole", "whole by the jvm"],
)
def test_a_broker_that_is_gone_for_half_a_minute_is_waited_for(
    line: Line, small_batch_bytes: int, jvm: bool, who: str
) -> None:
    sink = line.sink(small_batch_bytes=small_batch_bytes, jvm=jvm)
    line.write(sink, 0)
    assert writer_of(sink) == ("jvm" if jvm else "python")
    coordinator = roles.transaction_coordinator(line.cluster.client(), f"{line.name}-{who}")
    victim = line.cluster.broker(coordinator)
    victim.kill()
    back = threading.Timer(GONE_S, victim.start)
    back.start()
    try:
        for batch in range(1, 6):
            line.write(sink, batch)
    finally:
        back.join()
    line.cluster.wait_ready(Deadline(60))
    line.write(sink, 6)
    assert writer_of(sink) == ("jvm" if jvm else "python")
    assert line.visible() == list(range(7 * ROWS))


def writer_of(sink: ExactlyOnceKafka) -> str | None:
    return sink.last_batch.writer if sink.last_batch else None


@pytest.mark.parametrize(
    ("small_batch_bytes", "jvm"),
    [(0, False), (0, True), (2**20, False), (2**20, True)],
    ids=["lanes", "jvm", "whole", "whole by the jvm"],
)
def test_a_quota_throttles_and_breaks_nothing(
    line: Line, small_batch_bytes: int, jvm: bool
) -> None:
    quota = AlterClientQuotasRequest.EntryData(
        entity=[
            AlterClientQuotasRequest.EntryData.EntityData(
                entity_type="client-id", entity_name=line.name
            )
        ],
        ops=[
            AlterClientQuotasRequest.EntryData.OpData(
                key="producer_byte_rate", value=BYTES_PER_S, remove=False
            )
        ],
    )
    answer = line.cluster.client().ask_any(
        AlterClientQuotasRequest(entries=[quota], validate_only=False)
    )
    assert [entry.error_code for entry in answer.entries] == [0]
    sink = line.sink(small_batch_bytes=small_batch_bytes, jvm=jvm, **{"kafka.client.id": line.name})
    began = time.monotonic()
    for batch in range(8):
        line.write(sink, batch)
        assert writer_of(sink) == ("jvm" if jvm else "python")
    assert line.visible() == list(range(8 * ROWS))
    # Not a limit of ours: much faster than three brokers' quotas would mean that none applied. They
    # are averages over some ten seconds, so a part comes through at once.
    assert time.monotonic() - began > 8 * ROWS * PADDING / (3 * BYTES_PER_S) / 2
