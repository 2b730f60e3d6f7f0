"""What `onceproof offsets` tells of one real broker, through an open transaction and its ends."""

import json
import subprocess
import sys
import time

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from onceproof.cli.main import main
from onceproof.cluster import topics
from onceproof.cluster.client import BrokerClient
from onceproof.cluster.local import LocalCluster
from onceproof.cluster.offset_commits import partition_of
from onceproof.deadline import Deadline
from onceproof.offsets.read import read_offsets
from onceproof.offsets.view import PartitionOffsets

CALL_S = 20.0
TOPIC, GROUP = "offsets-in", "offsets-group"


def partition(cluster: LocalCluster) -> PartitionOffsets:
    (found,) = read_offsets(cluster.client(), [TOPIC], GROUP).partitions
    return found


def commit(cluster: LocalCluster, position: int) -> None:
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap("judge"), "group.id": GROUP})
    consumer.commit(offsets=[TopicPartition(TOPIC, 0, position)], asynchronous=False)
    consumer.close()


def write(producer: Producer, count: int) -> None:
    for number in range(count):
        producer.produce(TOPIC, value=f"{number}".encode(), partition=0)
    assert producer.flush(CALL_S) == 0


def test_an_open_transaction_takes_the_lags_apart_and_its_end_brings_them_together(
    cluster: LocalCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    bootstrap = cluster.bootstrap("judge")
    topics.create_topic(cluster.client(), TOPIC, partitions=1)
    write(Producer({"bootstrap.servers": bootstrap}), 5)
    commit(cluster, 2)
    plain = partition(cluster)
    assert (plain.log_start, plain.position, plain.lso, plain.hwm) == (0, 2, 5, 5)
    assert [(each.broker, each.leo, each.in_sync) for each in plain.replicas] == [(1, 5, True)]
    assert (plain.tail.control_records, plain.tail.last_record) == (0, 4)

    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": "offsets-writer"})
    producer.init_transactions(CALL_S)
    producer.begin_transaction()
    write(producer, 3)
    opened = partition(cluster)
    assert (opened.lso, opened.hwm) == (5, 8)
    assert (opened.lag_read_committed, opened.lag_read_uncommitted) == (3, 6)
    (pin,) = opened.pins
    assert (pin.transactional_id, pin.start_offset, pin.state) == ("offsets-writer", 5, "Ongoing")
    assert (opened.tail.last_record, opened.tail.last_committed) == (7, 4)

    producer.commit_transaction(CALL_S)
    topics.wait_settled(cluster.client(), TOPIC, Deadline(CALL_S))
    committed = partition(cluster)
    assert (committed.lso, committed.hwm, committed.pins) == (9, 9, ())
    assert committed.lag_read_committed == committed.lag_read_uncommitted == 7
    assert (committed.tail.last_record, committed.tail.last_committed) == (7, 7)
    assert committed.tail.control_records == 1  # at 8 = end − 1: no record

    producer.begin_transaction()
    write(producer, 2)
    producer.abort_transaction(CALL_S)
    topics.wait_settled(cluster.client(), TOPIC, Deadline(CALL_S))
    commit(cluster, 8)
    aborted = partition(cluster)
    assert (aborted.lso, aborted.hwm, aborted.tail.control_records) == (12, 12, 2)
    assert aborted.lag_read_committed == aborted.lag_read_uncommitted == 4
    assert (aborted.tail.last_record, aborted.tail.last_committed) == (10, 7)
    assert aborted.has_unread is False

    asked = ["offsets", "--bootstrap-server", bootstrap, "--group", GROUP]
    capsys.readouterr()
    assert main([*asked, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["partitions"] == [json.loads(json.dumps(aborted.to_json()))]
    in_log = len(topics.end_offsets(cluster.client(), "__consumer_offsets"))
    assert told["group"]["log_partition"] == partition_of(GROUP, in_log)
    assert told["group"]["coordinator"] == told["group"]["log_leader"] == 1
    assert main(asked) == 0
    assert "a lag of 4, and nothing to read" in capsys.readouterr().out


def test_watching_goes_on_line_by_line_until_the_topic_is_deleted(cluster: LocalCluster) -> None:
    watched = "watched"
    topics.create_topic(cluster.client(), watched, partitions=2)
    asked = ["offsets", "--bootstrap-server", cluster.bootstrap("judge"), "--topic", watched]
    with subprocess.Popen(
        [sys.executable, "-m", "onceproof", *asked, "--watch", "--every-s", "0.1", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as watching:
        assert watching.stdout is not None
        views = [json.loads(watching.stdout.readline()) for _ in range(3)]
        topics.delete_topic(cluster.client(), watched)
        _, said = watching.communicate(timeout=CALL_S)
    assert [len(view["partitions"]) for view in views] == [2, 2, 2]
    assert watching.returncode == 254
    (line,) = said.splitlines()
    assert f"no topic '{watched}' at " in line


def test_a_topic_deleted_under_way_is_told_as_that(
    cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Really deleted, between two of the questions."""
    goes = "goes"
    topics.create_topic(cluster.client(), goes, partitions=1)
    honest = topics.stable_offsets

    def stable_offsets(client: BrokerClient, topic: str) -> dict[int, int]:
        found = honest(client, topic)
        topics.delete_topic(client, topic)
        return found

    monkeypatch.setattr(topics, "stable_offsets", stable_offsets)
    asked = ["offsets", "--bootstrap-server", cluster.bootstrap("judge"), "--topic", goes]
    began = time.monotonic()
    assert main(asked) == 255
    assert time.monotonic() - began < CALL_S
    (line,) = capsys.readouterr().err.splitlines()
    assert line == "onceproof: topic 'goes' was deleted while its offsets were asked for; ask again"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--topic", "moon"], "no topic 'moon' at 127.0.0.1:"),
        (["--group", "moon"], "no group 'moon' at 127.0.0.1:"),
    ],
)
def test_what_is_not_there_is_told_with_what_is(
    cluster: LocalCluster, options: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["offsets", "--bootstrap-server", cluster.bootstrap("judge"), *options]) == 254
    assert told in capsys.readouterr().err
