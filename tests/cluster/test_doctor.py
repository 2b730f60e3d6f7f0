"""What `onceproof doctor` finds on a real broker, with a transaction that really hangs."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from hanging import UNVERIFIED, leave_hanging
from kafkas_tools import TRANSACTIONS, KafkasTools

from onceproof.cli.main import main
from onceproof.cluster import topics
from onceproof.cluster.jvm import DEFAULT_VERSION
from onceproof.cluster.local import LocalCluster
from onceproof.cluster.readiness import LIBRDKAFKA_LOG

CALL_S = 20.0
TOPIC, GROUP, OTHERS = "ward", "patient", "stalled"
DEAD_ADDRESS = "127.0.0.1:9"


@pytest.fixture(
    scope="module", params=[DEFAULT_VERSION, pytest.param("3.3.1", marks=pytest.mark.jury)]
)
def cluster(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LocalCluster]:
    folder: Path = tmp_path_factory.mktemp("doctor")
    with LocalCluster.start(
        request.param,
        directory=folder / "data",
        logs=folder,
        brokers=1,
        properties=UNVERIFIED,
    ) as started:
        topics.create_topic(started.client(), TOPIC, partitions=2)
        yield started


def produce(cluster: LocalCluster, partition: int, count: int) -> None:
    producer = Producer({"bootstrap.servers": cluster.bootstrap("judge")}, logger=LIBRDKAFKA_LOG)
    for number in range(count):
        producer.produce(TOPIC, value=f"{number}".encode(), partition=partition)
    assert producer.flush(CALL_S) == 0


def settings_of(cluster: LocalCluster, group: str) -> dict[str, Any]:
    return {
        "bootstrap.servers": cluster.bootstrap("judge"),
        "group.id": group,
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
    }


def commit(cluster: LocalCluster, group: str, position: int) -> None:
    consumer = Consumer(settings_of(cluster, group), logger=LIBRDKAFKA_LOG)
    consumer.commit(offsets=[TopicPartition(TOPIC, 0, position)], asynchronous=False)
    consumer.close()


def doctor(cluster: LocalCluster, *options: str) -> int:
    asked = ["doctor", "--bootstrap-server", cluster.bootstrap("judge"), "--between-s", "0.5"]
    return main([*asked, *options])


def found(printed: str) -> dict[str, list[str]]:
    """What is said, by kind."""
    kinds: dict[str, list[str]] = {}
    for each in json.loads(printed)["findings"]:
        kinds.setdefault(each["kind"], []).append(f"{each['subject']}: {each['seen']}")
    return kinds


def test_a_hanging_transaction_is_found_as_kafka_finds_it_and_ended_when_asked_to(
    cluster: LocalCluster, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    client = cluster.client()
    produce(cluster, 0, 3)
    leave_hanging(client, TOPIC, 0, "lost-writer")
    produce(cluster, 0, 2)
    commit(cluster, GROUP, 3)
    assert topics.stable_offsets(client, TOPIC)[0] == 3

    capsys.readouterr()
    assert doctor(cluster, "--group", GROUP, "--json") == 1
    kinds = found(capsys.readouterr().out)
    assert set(kinds) == {"hanging-transaction", "pinned-group", "fragile-topic"}
    (hangs,) = kinds["hanging-transaction"]
    assert hangs.startswith(f"{TOPIC}-0: transaction 'lost-writer' (producer ")
    assert "open from offset 3 on" in hangs
    (pinned,) = kinds["pinned-group"]
    assert "up to the LSO, 3, and 3 offsets wait behind it" in pinned
    hanging = ("find-hanging", "--broker-id", "1", "--max-transaction-timeout", "0")
    (rows,) = KafkasTools(cluster.bootstrap("judge")).run((TRANSACTIONS, *hanging))
    assert [(row[0], row[1], row[5]) for row in rows[1:]] == [(TOPIC, "0", "3")]
    assert topics.stable_offsets(client, TOPIC)[0] == 3  # it was only looked at

    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    assert doctor(cluster, "--group", GROUP, "--abort") == 1
    assert "Abort it? [y/N]" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert doctor(cluster, "--group", GROUP, "--abort") == 254
    assert "nobody answers: add --yes" in capsys.readouterr().err
    assert topics.stable_offsets(client, TOPIC)[0] == 3

    assert doctor(cluster, "--group", GROUP, "--abort", "--yes") == 1  # one broker is fragile
    assert f"{TOPIC}-0: aborted; its LSO went from 3 to 7" in capsys.readouterr().err
    assert topics.stable_offsets(client, TOPIC)[0] == topics.end_offsets(client, TOPIC)[0] == 7
    assert doctor(cluster, "--group", GROUP, "--json") == 1
    assert set(found(capsys.readouterr().out)) == {"abandoned-group", "fragile-topic"}


def test_a_group_that_reads_nothing_an_address_that_is_dead_and_traps_in_settings(
    cluster: LocalCluster, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Its member heartbeats, as librdkafka does by itself, and reads no further."""
    produce(cluster, 1, 2)
    consumer = Consumer(settings_of(cluster, OTHERS), logger=LIBRDKAFKA_LOG)
    consumer.subscribe([TOPIC])
    message = next(filter(None, (consumer.poll(0.5) for _ in range(40))))
    consumer.commit(message=message, asynchronous=False)
    where = f"{TOPIC}-{message.partition()}"
    produce(cluster, message.partition() or 0, 1)
    config = tmp_path / "consumer.properties"
    config.write_text(
        f"group.id={OTHERS}\nrequest.timeout.ms=300000\n"
        f"bootstrap.servers={cluster.bootstrap('judge')},{DEAD_ADDRESS}\n"
    )
    capsys.readouterr()
    try:
        assert doctor(cluster, "--group", OTHERS, "--client-config", str(config), "--json") == 1
    finally:
        consumer.close()
    kinds = found(capsys.readouterr().out)
    (stalled,) = kinds["stalled-group"]
    assert f"its position on {where} stayed at 1 for " in stalled
    assert "read by rdkafka at 127.0.0.1" in stalled
    assert kinds["unreachable-broker"] == [
        f"{DEAD_ADDRESS}: the address given {DEAD_ADDRESS}: no connection: Connection refused"
    ]
    (late,) = kinds["request-outlasts-poll"]
    assert "request.timeout.ms=300000 and max.poll.interval.ms=300000" in late


@pytest.mark.jury
def test_a_broker_that_advertises_what_nobody_can_reach(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def advertise(_broker: int, listener: str, bound: str) -> str:
        return DEAD_ADDRESS if listener == "SUSPECTS" else bound

    with LocalCluster.start(
        directory=tmp_path / "data", logs=tmp_path, brokers=1, advertise=advertise
    ) as cluster:
        bound = cluster.brokers[1].plan.bound("SUSPECTS")
        capsys.readouterr()
        code = main(["doctor", "--bootstrap-server", bound, "--between-s", "0.1", "--json"])
    printed = capsys.readouterr()
    assert code == 1, printed.err
    kinds = found(printed.out)
    assert kinds["unreachable-broker"] == [
        f"broker 1: broker 1 advertises {DEAD_ADDRESS}: no connection: Connection refused"
    ]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--group", "moon"], "no group 'moon' at 127.0.0.1:"),
        (["--yes"], "--yes goes with --abort"),
        (["--client-config", "/no/such"], "--client-config /no/such cannot be read: No such file"),
    ],
)
def test_what_cannot_be_looked_at_is_told_in_one_line(
    cluster: LocalCluster, options: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert doctor(cluster, *options) == 254
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line
