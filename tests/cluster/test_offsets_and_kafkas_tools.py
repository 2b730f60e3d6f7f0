"""The numbers of `onceproof offsets` are those of Kafka's own tools, on the same cluster.

kafka-get-offsets, kafka-consumer-groups, kafka-transactions; through open, aborted and committed
transactions.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from kafkas_tools import GROUPS, OFFSETS, TRANSACTIONS, KafkasTools, Row

from onceproof.cli.main import main
from onceproof.cluster import topics
from onceproof.cluster.local import LocalCluster
from onceproof.cluster.readiness import LIBRDKAFKA_LOG
from onceproof.deadline import Deadline

CALL_S = 20.0
TOPIC, GROUP, WRITER = "told-twice", "reader", "writer"
PLAIN, OPEN, ENDED = range(3)  # partitions: no transaction, one open, aborted and committed ones
POSITIONS = {PLAIN: 2, OPEN: 5, ENDED: 6}
NONE = "None"


@pytest.fixture(scope="module", params=[1, pytest.param(3, marks=pytest.mark.jury)])
def cluster(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LocalCluster]:
    folder: Path = tmp_path_factory.mktemp("tools")
    with LocalCluster.start(
        directory=folder / "data", logs=folder, brokers=request.param
    ) as started:
        yield started


def write(producer: Producer, partition: int, count: int) -> None:
    for number in range(count):
        producer.produce(TOPIC, value=f"{number}".encode(), partition=partition)
    assert producer.flush(CALL_S) == 0


@pytest.fixture
def writer(cluster: LocalCluster) -> Producer:
    """Leaves a transaction open on OPEN, and on ENDED one that was aborted and one committed."""
    settings: dict[str, Any] = {"bootstrap.servers": cluster.bootstrap("judge")}
    topics.create_topic(cluster.client(), TOPIC, partitions=len(POSITIONS))
    plain = Producer(settings, logger=LIBRDKAFKA_LOG)
    for partition in POSITIONS:
        write(plain, partition, 5)
    producer = Producer({**settings, "transactional.id": WRITER}, logger=LIBRDKAFKA_LOG)
    producer.init_transactions(CALL_S)
    producer.begin_transaction()
    write(producer, ENDED, 2)
    producer.abort_transaction(CALL_S)
    producer.begin_transaction()
    write(producer, ENDED, 1)
    producer.commit_transaction(CALL_S)
    topics.wait_settled(cluster.client(), TOPIC, Deadline(CALL_S))
    producer.begin_transaction()
    write(producer, OPEN, 3)
    consumer = Consumer({**settings, "group.id": GROUP}, logger=LIBRDKAFKA_LOG)
    positions = [TopicPartition(TOPIC, each, at) for each, at in POSITIONS.items()]
    consumer.commit(offsets=positions, asynchronous=False)
    consumer.close()
    return producer


def told_by_us(cluster: LocalCluster, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    asked = ["offsets", "--bootstrap-server", cluster.bootstrap("judge"), "--json"]
    capsys.readouterr()
    assert main([*asked, "--topic", TOPIC, "--group", GROUP]) == 0
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return told


def test_offsets_tells_what_kafkas_own_tools_tell(
    cluster: LocalCluster, writer: Producer, capsys: pytest.CaptureFixture[str]
) -> None:
    tools = KafkasTools(cluster.bootstrap("judge"))
    ours = told_by_us(cluster, capsys)
    assert [each["lso"] for each in ours["partitions"]] == [5, 5, 10]
    assert [each["hwm"] for each in ours["partitions"]] == [5, 8, 10]
    assert_the_same(ours, tools)

    writer.abort_transaction(CALL_S)
    topics.wait_settled(cluster.client(), TOPIC, Deadline(CALL_S))
    ended = told_by_us(cluster, capsys)
    assert [each["lso"] for each in ended["partitions"]] == [5, 9, 10]
    assert_the_same(ended, tools)


def assert_the_same(ours: dict[str, Any], tools: KafkasTools) -> None:
    partitions = ours["partitions"]
    ends, starts, group, state, listed, *producers = tools.run(
        (OFFSETS, "--topic", TOPIC, "--time", "-1"),
        (OFFSETS, "--topic", TOPIC, "--time", "-2"),
        (GROUPS, "--describe", "--group", GROUP, "--offsets"),
        (GROUPS, "--describe", "--group", GROUP, "--state"),
        (TRANSACTIONS, "list"),
        *(
            (TRANSACTIONS, "describe-producers", "--topic", TOPIC, "--partition", str(each))
            for each in POSITIONS
        ),
    )
    assert [[f"{TOPIC}:{each['partition']}:{each['hwm']}"] for each in partitions] == ends
    assert [[f"{TOPIC}:{each['partition']}:{each['log_start']}"] for each in partitions] == starts
    assert [
        [
            GROUP,
            TOPIC,
            *(str(each[name]) for name in ("partition", "position", "hwm")),
            str(each["lag_read_uncommitted"]),
        ]
        for each in partitions
    ] == [row[:6] for row in group if row[0] == GROUP]
    (told,) = [row for row in state if row[0] == GROUP]
    assert told[2:5] == [f"({ours['group']['coordinator']})", "-", ours["group"]["state"]]
    for each, rows in zip(partitions, producers, strict=True):
        assert_the_same_transactions(each, rows[1:], listed)


def assert_the_same_transactions(ours: dict[str, Any], rows: list[Row], listed: list[Row]) -> None:
    """`rows`: producer id, epoch, coordinator's epoch, sequence, time, start of its transaction."""
    opened = [row for row in rows if row[-1] != NONE]
    assert [
        [str(each[name]) for name in ("producer_id", "epoch", "start_offset")]
        for each in ours["open_transactions"]
    ] == [[row[0], row[1], row[-1]] for row in opened]
    assert ours["lso"] == min([ours["hwm"], *(int(row[-1]) for row in opened)])
    known = {row[2]: (row[0], row[3]) for row in listed}
    for each in ours["open_transactions"]:
        assert known[str(each["producer_id"])] == (each["transactional_id"], each["state"])
