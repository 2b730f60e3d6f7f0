"""The proxy before a real broker: changes nothing, sees everything, holds what it is told to."""

import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from committed import committed
from confluent_kafka import Producer

from onceproof.cluster import topics
from onceproof.cluster.local import LocalCluster
from onceproof.cluster.ports import HeldPorts
from onceproof.deadline import Deadline, wait_until
from onceproof.errors import UsageError
from onceproof.wire.control import Wire
from onceproof.wire.gates import Fate


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("wire")


@pytest.fixture(scope="module")
def wire(folder: Path) -> Iterator[Wire]:
    ports = HeldPorts()
    with Wire.start(
        record=folder / "wire", log=folder / "proxy.log", seed=1, take_ports=ports.take
    ) as started:
        yield started
    ports.release()


@pytest.fixture(scope="module")
def cluster(folder: Path, wire: Wire) -> Iterator[LocalCluster]:
    with LocalCluster.start(
        directory=folder / "data",
        logs=folder,
        brokers=1,
        advertise=wire.advertise,
        on_start=wire.know_broker,
    ) as started:
        yield started


@pytest.fixture
def topic(cluster: LocalCluster, request: pytest.FixtureRequest) -> str:
    name = f"out-{abs(hash(request.node.name))}"
    topics.create_topic(cluster.client(), name, partitions=2)
    return name


def transactional(cluster: LocalCluster, name: str) -> Producer:
    return client(cluster, {"transactional.id": name})


def client(cluster: LocalCluster, settings: dict[str, Any]) -> Producer:
    every = {"bootstrap.servers": cluster.bootstrap("suspects"), "log_level": 0, **settings}
    producer = Producer(every)
    producer.init_transactions(30)
    return producer


def values(cluster: LocalCluster, topic: str) -> list[bytes]:
    return sorted(each.value() for each in committed(cluster, topic))


def test_a_transaction_goes_through_unchanged_and_every_step_of_it_is_recorded(
    cluster: LocalCluster, wire: Wire, topic: str, folder: Path
) -> None:
    producer = transactional(cluster, "recorded")
    producer.begin_transaction()
    producer.produce(topic, b"one", b"key", partition=1)
    producer.commit_transaction(30)
    assert values(cluster, topic) == [b"one"]
    assert wire.flush()["undecoded"] == 0
    rows = pyarrow.parquet.read_table(folder / "wire").to_pylist()
    # Between brokers too: the one that is written to asks whether the partition was added.
    mine = [
        row
        for row in rows
        if row["transactional_id"] == "recorded" and row["listener"] == "suspects"
    ]
    asked = [row["api"] for row in mine if row["direction"] == "request"]
    assert [api for api in asked if api != "FindCoordinator"] == [
        "InitProducerId",
        "AddPartitionsToTxn",
        "Produce",
        "EndTxn",
    ]
    end = next(row for row in mine if row["api"] == "EndTxn" and row["direction"] == "response")
    assert (end["committed"], end["error_code"], end["verdict"]) == (True, 0, None)
    produce = next(row for row in mine if row["api"] == "Produce")
    assert [(place["topic"], place["partition"]) for place in produce["places"]] == [(topic, 1)]
    assert (produce["records"], produce["producer_id"]) == (1, end["producer_id"])


def test_a_commit_is_held_as_long_as_it_is_told_and_then_done(
    cluster: LocalCluster, wire: Wire, topic: str
) -> None:
    producer = transactional(cluster, "held")
    wire.add(
        {
            "name": "held-end",
            "rule": "hold",
            "match": {"api": "EndTxn", "transactional_id": "held", "committed": True},
        }
    )
    producer.begin_transaction()
    producer.produce(topic, b"late")
    ending = threading.Thread(target=producer.commit_transaction, args=(30,))
    ending.start()
    frame = wire.await_applied("held-end", Deadline(20))
    assert frame is not None
    assert frame["transactional_id"] == "held"
    assert wire.counts("held-end")["held"] == 1
    assert topics.open_transactions(cluster.client(), topic)
    assert wire.release("held-end") == 1
    ending.join()
    assert values(cluster, topic) == [b"late"]
    assert wire.remove("held-end")["applied"] == 1


def test_a_held_request_outlives_its_client_and_reaches_the_broker(
    cluster: LocalCluster, wire: Wire, topic: str, folder: Path
) -> None:
    """The very thing a delayed EndTxn is (KAFKA-17754)."""
    producer = transactional(cluster, "orphan")
    wire.add(
        {
            "name": "orphan-end",
            "rule": "hold",
            "cut_client": True,
            "times": 1,
            "match": {"api": "EndTxn", "transactional_id": "orphan"},
        }
    )
    producer.begin_transaction()
    producer.produce(topic, b"first")
    producer.commit_transaction(30)  # cut off, tried again, done
    assert wire.counts("orphan-end")["held"] == 1
    assert len(answers_to_ends(wire, folder)) == 1  # to the second try
    assert wire.release("orphan-end") == 1
    wait_until(lambda: len(answers_to_ends(wire, folder)) == 2, Deadline(10), "no answer to it")
    assert values(cluster, topic) == [b"first"]
    wire.remove("orphan-end")


def test_a_held_commit_can_be_cut_off_with_its_connection_and_is_tried_again(
    cluster: LocalCluster, wire: Wire, topic: str
) -> None:
    producer = transactional(cluster, "cut")
    match = {"api": "EndTxn", "transactional_id": "cut"}
    wire.add({"name": "cut-end", "rule": "hold", "times": 1, "match": match})
    producer.begin_transaction()
    producer.produce(topic, b"again")
    ending = threading.Thread(target=producer.commit_transaction, args=(30,))
    ending.start()
    first = wire.await_applied("cut-end", Deadline(20))
    assert first is not None
    assert wire.release("cut-end", Fate.CUT) == 1
    ending.join()
    assert wire.remove("cut-end")["fitted"] == 2
    assert values(cluster, topic) == [b"again"]


def test_another_trial_is_recorded_elsewhere_and_finds_no_rule(
    cluster: LocalCluster, wire: Wire, topic: str, folder: Path, tmp_path: Path
) -> None:
    wire.add({"name": "left-over", "rule": "drop", "match": {"api": "EndTxn"}})
    wire.clear()
    wire.record_into(tmp_path / "next")
    producer = transactional(cluster, "next")
    producer.begin_transaction()
    producer.produce(topic, b"one")
    producer.commit_transaction(30)
    wire.flush()
    wire.record_into(folder / "wire-after")
    ends = pyarrow.parquet.read_table(tmp_path / "next", filters=[("api", "=", "EndTxn")])
    assert {row["transactional_id"] for row in ends.to_pylist()} == {"next"}
    wire.record_into(folder / "wire")


def test_of_frames_to_a_controller_the_sender_is_known(
    cluster: LocalCluster, wire: Wire, folder: Path, tmp_path: Path
) -> None:
    wire.record_into(tmp_path / "own")

    def senders() -> set[int | None]:
        wire.flush()
        rows = pyarrow.parquet.read_table(tmp_path / "own").to_pylist()
        return {row["sender"] for row in rows if row["listener"] == "controller"}

    wait_until(lambda: set(cluster.brokers) <= senders(), Deadline(20), "no known sender")
    wire.record_into(folder / "wire")


def answers_to_ends(wire: Wire, folder: Path) -> list[dict[str, Any]]:
    wire.flush()
    return [
        row
        for row in pyarrow.parquet.read_table(folder / "wire").to_pylist()
        if (row["api"], row["direction"]) == ("EndTxn", "response")
        and row["transactional_id"] == "orphan"
    ]


@pytest.mark.parametrize("rule", ["drop", "disconnect"])
def test_a_lost_answer_to_a_commit_is_asked_for_again(
    cluster: LocalCluster, wire: Wire, topic: str, rule: str
) -> None:
    patience = {"socket.timeout.ms": 3_000, "transaction.timeout.ms": 3_000}
    producer = client(cluster, {"transactional.id": f"lost-{rule}", **patience})
    wire.add(
        {
            "name": f"lost-{rule}",
            "rule": rule,
            "times": 1,
            "match": {
                "api": "EndTxn",
                "direction": "response",
                "transactional_id": f"lost-{rule}",
            },
        }
    )
    producer.begin_transaction()
    producer.produce(topic, b"once")
    producer.commit_transaction(30)
    assert wire.remove(f"lost-{rule}")["applied"] == 1
    assert values(cluster, topic) == [b"once"]


def test_an_error_is_answered_without_asking_the_broker(
    cluster: LocalCluster, wire: Wire, topic: str
) -> None:
    producer = transactional(cluster, "refused")
    match = {"api": "EndTxn", "transactional_id": "refused"}
    wire.add({"name": "refused", "rule": "error_response", "code": 47, "times": 1, "match": match})
    producer.begin_transaction()
    producer.produce(topic, b"never")
    with pytest.raises(Exception, match=r"(?i)fenced|epoch"):
        producer.commit_transaction(30)
    assert wire.remove("refused")["applied"] == 1


def test_at_the_address_of_a_broker_that_vanished_nobody_answers_until_it_appears(
    wire: Wire, cluster: LocalCluster
) -> None:
    host, _, port = cluster.bootstrap("suspects").partition(":")
    place = {"broker": 1, "listener": "suspects"}
    wire.vanish(place)
    with pytest.raises(TimeoutError):
        socket.create_connection((host, int(port)), timeout=0.3)
    with pytest.raises(UsageError, match="no listener that could vanish"):
        wire.vanish(place)
    wire.appear(place)
    socket.create_connection((host, int(port)), timeout=5.0).close()


def test_a_rule_that_nothing_fits_is_never_applied(wire: Wire) -> None:
    wire.add({"name": "never", "rule": "drop", "match": {"api": "DeleteRecords"}})
    assert wire.await_applied("never", Deadline(0.5)) is None
    counts = wire.remove("never")
    assert (counts["fitted"], counts["applied"]) == (0, 0)


def test_a_rule_that_cannot_be_is_refused_and_harms_nothing(wire: Wire) -> None:
    with pytest.raises(UsageError, match="EndTxn"):
        wire.add({"name": "slip", "rule": "drop", "match": {"api": "EndTx"}})
    assert wire.flush()["recorded"] > 0


def test_what_came_by_last_is_on_disk_when_the_proxy_has_ended(
    cluster: LocalCluster, tmp_path: Path
) -> None:
    """It writes once a second; the rest, when it is told to end."""
    ports = HeldPorts()
    with Wire.start(
        record=tmp_path / "wire", log=tmp_path / "proxy.log", seed=1, take_ports=ports.take
    ) as brief:
        broker = cluster.broker(1)
        address = brief.advertise(1, "suspects", broker.plan.bound("SUSPECTS"))
        producer = Producer({"bootstrap.servers": address, "log_level": 0})
        producer.list_topics(timeout=20)
    ports.release()
    rows = pyarrow.parquet.read_table(tmp_path / "wire").to_pylist()
    assert {"ApiVersions", "Metadata"} <= {row["api"] for row in rows}
