"""Three real brokers: each kind of process fault on one of them, and the cluster goes on."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from onceproof.cli.main import main
from onceproof.cluster import rawlog, roles, topics
from onceproof.cluster.batches import Outcome
from onceproof.cluster.local import LocalCluster
from onceproof.cluster.readiness import LIBRDKAFKA_LOG, commit_transaction
from onceproof.deadline import Deadline, wait_until
from onceproof.errors import FaultError
from onceproof.faults.targets import Field

TOPIC = "orders"
RECOVERY_S_MAX = 30


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    directory = tmp_path_factory.mktemp("three")
    with LocalCluster.start(directory=directory / "data", logs=directory / "logs") as running:
        topics.create_topic(running.client(), TOPIC, partitions=4)
        yield running


def commit_one(cluster: LocalCluster) -> None:
    commit_transaction(cluster.bootstrap("suspects"), TOPIC, Deadline(RECOVERY_S_MAX))


def transactional_producer(cluster: LocalCluster, id: str, compression: str = "none") -> Producer:
    settings: dict[str, Any] = {
        "bootstrap.servers": cluster.bootstrap("suspects"),
        "transactional.id": id,
        "compression.type": compression,
        "linger.ms": 50,
    }
    producer = Producer(settings, logger=LIBRDKAFKA_LOG)
    producer.init_transactions(RECOVERY_S_MAX)
    return producer


def wait_fenced(cluster: LocalCluster, broker_id: int) -> None:
    wait_until(
        lambda: broker_id not in cluster.client().live_brokers(),
        Deadline(10),
        f"broker {broker_id} is still live",
    )


def test_every_role_is_played_by_one_of_the_brokers(cluster: LocalCluster) -> None:
    client = cluster.client()
    players = {
        roles.partition_leader(client, TOPIC, 0),
        roles.group_coordinator(client, "some-group"),
        roles.transaction_coordinator(client, "some-id"),
        roles.active_controller(client),
    }
    assert players <= {1, 2, 3}
    assert set(roles.partition_leaders(client, TOPIC)) == {0, 1, 2, 3}


def test_the_doctor_finds_nothing_on_a_healthy_cluster(
    cluster: LocalCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    asked = ["doctor", "--bootstrap-server", cluster.bootstrap("judge"), "--between-s", "0.2"]
    assert main(asked) == 0
    assert capsys.readouterr().out.startswith("nothing found; looked at 3 brokers, ")


def test_a_killed_leader_is_replaced_and_comes_back_on_its_own_data(cluster: LocalCluster) -> None:
    victim = cluster.broker(roles.partition_leader(cluster.client(), TOPIC, 0))
    victim.kill()
    assert not victim.is_running()
    commit_one(cluster)
    wait_fenced(cluster, victim.id)
    assert roles.partition_leader(cluster.client(), TOPIC, 0) != victim.id
    victim.restart()
    victim.wait_ready(Deadline(RECOVERY_S_MAX))
    assert all(victim.id in view for view in cluster.client().views_of_live_brokers().values())
    assert cluster.client().live_brokers() == {1, 2, 3}
    commit_one(cluster)


def test_a_paused_controller_is_replaced_and_goes_on_when_resumed(cluster: LocalCluster) -> None:
    victim = cluster.broker(roles.active_controller(cluster.client()))
    victim.pause()
    assert victim.is_paused()
    assert victim.is_running()
    wait_fenced(cluster, victim.id)
    assert roles.active_controller(cluster.client()) != victim.id
    commit_one(cluster)
    victim.resume()
    victim.wait_ready(Deadline(RECOVERY_S_MAX))
    assert all(victim.id in view for view in cluster.client().views_of_live_brokers().values())
    commit_one(cluster)


def test_a_stopped_coordinator_leaves_cleanly_and_can_be_restarted(cluster: LocalCluster) -> None:
    victim = cluster.broker(roles.transaction_coordinator(cluster.client(), "onceproof-ready"))
    assert victim.stop(Deadline(RECOVERY_S_MAX)), "it had to be killed"
    commit_one(cluster)
    assert roles.transaction_coordinator(cluster.client(), "onceproof-ready") != victim.id
    victim.restart()
    victim.wait_ready(Deadline(RECOVERY_S_MAX))
    assert all(victim.id in view for view in cluster.client().views_of_live_brokers().values())
    commit_one(cluster)


def test_an_open_transaction_shows_until_it_ends(cluster: LocalCluster) -> None:
    client = cluster.client()
    producer = transactional_producer(cluster, "watched")
    producer.begin_transaction()
    start = topics.end_offsets(client, TOPIC)[2]
    producer.produce(TOPIC, key=b"k", value=b"v", partition=2)
    producer.flush(RECOVERY_S_MAX)

    (seen,) = topics.open_transactions(client, TOPIC)
    assert (seen.partition, seen.start_offset) == (2, start)
    assert topics.stable_offsets(client, TOPIC)[2] == start < topics.end_offsets(client, TOPIC)[2]
    states = {each.transactional_id: each.state for each in topics.list_transactions(client)}
    assert states["watched"] == "Ongoing"

    producer.abort_transaction(RECOVERY_S_MAX)
    wait_until(
        lambda: topics.stable_offsets(client, TOPIC)[2] == start + 2,
        Deadline(5),
        "the marker is not in the topic",
    )
    assert not topics.open_transactions(client, TOPIC)
    last = list(rawlog.read_batches(client, TOPIC, 2))[-1]
    assert (last.base_offset, last.outcome) == (start, Outcome.ABORTED)
    assert last.producer_id == seen.producer_id


def test_who_has_transactional_ids_of_its_own_is_known_by_what_it_wrote(
    cluster: LocalCluster,
) -> None:
    client = cluster.client()
    output = "written-by-a-stranger"
    topics.create_topic(client, output, partitions=2)
    field = Field(
        instances=(),
        brokers=cluster.brokers,
        client=client,
        output_topic=output,
        app_id="nobody-calls-itself-so",
        random=random.Random(1),
    )
    with pytest.raises(FaultError, match="none has written to written-by-a-stranger yet"):
        field.resolve("broker:transaction_coordinator")
    producer = transactional_producer(cluster, "a-name-of-its-own")
    producer.begin_transaction()
    producer.produce(output, value=b"v", partition=1)
    producer.commit_transaction(RECOVERY_S_MAX)
    victim, _ = field.resolve("broker:transaction_coordinator")
    coordinator = roles.transaction_coordinator(client, "a-name-of-its-own")
    assert victim is cluster.broker(coordinator)


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_the_raw_log_tells_records_and_outcomes_of_any_codec(
    cluster: LocalCluster, codec: str
) -> None:
    client = cluster.client()
    topic = f"raw-{codec}"
    topics.create_topic(client, topic, partitions=1)
    producer = transactional_producer(cluster, topic, compression=codec)
    for end in (producer.commit_transaction, producer.abort_transaction):
        producer.begin_transaction()
        for number in range(100):
            producer.produce(topic, key=b"key", value=b"value-%d " % number + b"x" * 500)
        producer.flush(RECOVERY_S_MAX)
        end(RECOVERY_S_MAX)

    wait_until(
        lambda: topics.stable_offsets(client, topic)[0] == 202, Deadline(5), "markers are missing"
    )
    batches = list(rawlog.read_batches(client, topic, 0))
    counts = dict.fromkeys(Outcome, 0)
    for batch in batches:
        counts[batch.outcome] += batch.records
    assert (counts[Outcome.COMMITTED], counts[Outcome.ABORTED]) == (100, 100)
    assert rawlog.count_visible(client, topic) == {0: 100}
    record = rawlog.read_record(client, topic, 0, 42)
    assert record is not None
    assert (record.key, record.value) == (b"key", b"value-42 " + b"x" * 500)
    assert rawlog.read_record(client, topic, 0, 100) is None, "offset 100 is the commit marker"


def test_broker_logs_carry_time_and_level(cluster: LocalCluster) -> None:
    for broker in cluster.brokers.values():
        first = broker.log.read_text().splitlines()[0]
        assert " INFO " in first
        assert first.startswith("20"), first


def test_a_group_commits_offsets_that_can_be_read(cluster: LocalCluster) -> None:
    settings: dict[str, Any] = {
        "bootstrap.servers": cluster.bootstrap("judge"),
        "group.id": "readers",
    }
    consumer = Consumer(settings, logger=LIBRDKAFKA_LOG)
    consumer.commit(offsets=[TopicPartition(TOPIC, 1, 7)], asynchronous=False)
    consumer.close()
    assert topics.committed_offsets(cluster.client(), "readers", TOPIC) == {1: 7}


def test_data_directories_stay_apart(cluster: LocalCluster) -> None:
    directories = {Path(broker.plan.data) for broker in cluster.brokers.values()}
    assert len(directories) == 3
