"""Kafka Streams in a process of Python's: it reads, writes in transactions, speaks and ends."""

import json
from pathlib import Path

from committed import committed
from confluent_kafka import Producer

from onceproof.cluster import topics
from onceproof.cluster.local import LocalCluster
from onceproof.deadline import Deadline, wait_until
from onceproof.history.event import EventLog, read_events
from onceproof.suspects.catalog import find_suspect
from onceproof.suspects.environment import Assignment
from onceproof.suspects.instance import Instance

RECORDS = 60
DONE_S_MAX = 60.0


def test_a_fold_comes_out_whole_and_sigterm_ends_it_in_order(
    cluster: LocalCluster, tmp_path: Path
) -> None:
    for topic in ("in", "out"):
        topics.create_topic(cluster.client(), topic, partitions=2)
    producer = Producer({"bootstrap.servers": cluster.bootstrap("judge")})
    for number in range(RECORDS):
        value = {"id": f"k-{number}", "seq": number, "value": number}
        producer.produce("in", key="k", value=json.dumps(value))
    assert producer.flush(10) == 0
    suspect = find_suspect("streams_exactly_once")
    assignment = Assignment(
        bootstrap_servers=cluster.bootstrap("judge"),
        input_topic="in",
        output_topic="out",
        app_id="app",
        workload="fold",
        state_root=tmp_path / "state",
        transaction_timeout_ms=10_000,
        settings=suspect.settings or {},
    )
    events = EventLog(tmp_path / "events.jsonl")
    instance = Instance(0, suspect, assignment, tmp_path, events)
    instance.start()
    try:
        wait_until(
            lambda: _is_done(instance, cluster),
            Deadline(DONE_S_MAX),
            lambda: (tmp_path / "instance-0.log").read_text()[-2000:],
        )
        assert instance.stop()
    finally:
        instance.end()
        events.close()
    states = [json.loads(message.value() or b"") for message in committed(cluster, "out")]
    assert states[-1] == {"key": "k", "count": RECORDS, "max": RECORDS - 1, "id": "k-59"}
    assert [state["count"] for state in states] == list(range(1, RECORDS + 1))
    said = [event.detail["event"] for event in read_events(tmp_path / "events.jsonl")
            if event.kind == "said"]  # fmt: skip
    assert {"started", "committed"} <= set(said)
    assert said[-1] == "stopped"


def _is_done(instance: Instance, cluster: LocalCluster) -> bool:
    """It has said so itself, and its group has passed the whole input."""
    instance.listen()
    position = topics.committed_offsets(cluster.client(), "app", "in")
    has_spoken = instance.says_started and instance.transactions > 0
    return has_spoken and sum(position.values()) == RECORDS
