"""What goes in, what must come out, and what a plain reader sees: none of it knows the sink.

    input ──▶ program under trial ──▶ output ──▶ visible()   what is
      └─────▶ plain Python, batch by batch ────▶ folded()    what must be

Which records a batch held is taken from Spark's own record of it, the checkpoint's `offsets`.
"""

import itertools
import json
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition

from onceproof.cluster import topics
from onceproof.cluster.local import LocalCluster
from onceproof.deadline import Deadline

READ_S_MAX = 60.0
NUMBER_MAX = 1_000_000
VALUE_BYTES = 100
TOLD_MAX = 5
# For each key its values, in order.
ByKey = dict[str, list[str]]


@dataclass(frozen=True, kw_only=True)
class Input:
    """Records of (key, number) by partition, in the order of their offsets. A key has one home."""

    topic: str
    partitions: tuple[tuple[tuple[str, int], ...], ...]

    @staticmethod
    def make(topic: str, *, records: int, keys: int, partitions: int = 4) -> "Input":
        """As many in each partition, so that no small batch is left for the end."""
        dice = random.Random(topic)
        filled: list[list[tuple[str, int]]] = [[] for _ in range(partitions)]
        for number in range(records):
            home = number % partitions
            key = dice.randrange(home, keys, partitions)
            filled[home].append((f"key-{key}", dice.randrange(NUMBER_MAX)))
        return Input(topic=topic, partitions=tuple(tuple(each) for each in filled))

    def feed(self, cluster: LocalCluster) -> None:
        topics.create_topic(cluster.client(), self.topic, partitions=len(self.partitions))
        producer = Producer(
            {
                "bootstrap.servers": cluster.bootstrap("judge"),
                "enable.idempotence": True,
                "queue.buffering.max.messages": 1_000_000,
            }
        )
        for partition, records in enumerate(self.partitions):
            for key, number in records:
                producer.produce(self.topic, as_value(number), key, partition)
        assert producer.flush(READ_S_MAX) == 0
        ends = topics.end_offsets(cluster.client(), self.topic)
        assert list(ends.values()) == [len(each) for each in self.partitions]


def as_value(number: int) -> str:
    """Wide, so that the lanes of a copy are not among the small ones that the driver writes."""
    return str(number).zfill(VALUE_BYTES)


def copied(given: Input) -> ByKey:
    """What a copy must be: every value once, in the order of its key."""
    values: ByKey = defaultdict(list)
    for records in given.partitions:
        for key, number in records:
            values[key].append(as_value(number))
    return dict(values)


def folded(given: Input, checkpoint: Path) -> ByKey:
    """What a fold in update mode must be: in each batch, a line for each key that occurs in it."""
    counts: dict[str, int] = defaultdict(int)
    highest: dict[str, int] = {}
    values: ByKey = defaultdict(list)
    for batch in _batches(given, checkpoint):
        for key, number in batch:
            counts[key] += 1
            highest[key] = max(number, highest.get(key, number))
        for key in {key for key, _ in batch}:
            values[key].append(f'{{"count":{counts[key]},"max":{highest[key]}}}')
    assert sum(counts.values()) == sum(len(each) for each in given.partitions)
    return dict(values)


def _batches(given: Input, checkpoint: Path) -> Iterator[list[tuple[str, int]]]:
    done = [0] * len(given.partitions)
    logged = sorted(
        int(file.name) for file in (checkpoint / "offsets").iterdir() if file.suffix == ""
    )
    assert logged == list(range(len(logged)))
    for batch in logged:
        last_line = (checkpoint / "offsets" / str(batch)).read_text().splitlines()[-1]
        ends = json.loads(last_line)[given.topic]
        batch_records = []
        for partition, records in enumerate(given.partitions):
            end = ends[str(partition)]
            batch_records += records[done[partition] : end]
            done[partition] = end
        yield batch_records


def differences(seen: ByKey, must_be: ByKey) -> list[str]:
    """A line for each of the first keys whose values are not what they must be, in their order."""
    keys = sorted(key for key in seen.keys() | must_be.keys() if seen.get(key) != must_be.get(key))
    return [_difference(key, seen.get(key, []), must_be.get(key, [])) for key in keys[:TOLD_MAX]]


def _difference(key: str, seen: list[str], must_be: list[str]) -> str:
    pairs = itertools.zip_longest(seen, must_be, fillvalue="nothing")
    place, (got, expected) = next((n, pair) for n, pair in enumerate(pairs) if pair[0] != pair[1])
    return (
        f"{key} came out {len(seen)} times, expected {len(must_be)};"
        f" value {place} is {got.lstrip('0')}, expected {expected.lstrip('0')}"
    )


def visible(cluster: LocalCluster, topic: str) -> ByKey:
    """What a plain read_committed consumer sees. Nothing may be hidden behind an open transaction.

    A key has one partition, so the order of what is read is the order of its values.
    """
    ends = topics.wait_settled(cluster.client(), topic, Deadline(30))
    consumer = Consumer(
        {
            "bootstrap.servers": cluster.bootstrap("judge"),
            "group.id": "plain-reader",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
        }
    )
    values: ByKey = defaultdict(list)
    try:
        consumer.assign([TopicPartition(topic, partition, 0) for partition in ends])
        for key, value in _until_all_ended(consumer, len(ends)):
            values[key].append(value)
    finally:
        consumer.close()
    return dict(values)


def _until_all_ended(consumer: Consumer, partitions: int) -> Iterator[tuple[str, str]]:
    deadline = Deadline(READ_S_MAX)
    ended = set()
    while len(ended) < partitions:
        assert not deadline.expired(), f"only partitions {sorted(ended)} were read to their ends"
        message = consumer.poll(1.0)
        if message is None:
            continue
        error = message.error()
        if error is None:
            yield message.key().decode(), message.value().decode()
        else:
            assert error.code() == KafkaError._PARTITION_EOF, error
            ended.add(message.partition())
