"""The honest loop for programs with a state per key. The output topic is its only home.

    assigned ──▶ read the output's same partitions, read_committed ──▶ states
    batch ─▶ step(state, record) ─▶ rows ─▶ transaction ─▶ committed ─▶ states

The producer fences its earlier life before it joins the group, so what is read back is final.
A row goes to the partition its input came from. One instance.
"""

import json
import time
from collections import ChainMap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import copying
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from contract import client_settings, setting
from copying import Batch, Output, Work

RESTORE_S_MAX = 60.0

State = dict[str, Any]


class Row(NamedTuple):
    key: str
    partition: int
    value: State


@dataclass(frozen=True, kw_only=True)
class Workload:
    """`step`: the row that a record makes of the last row of its key (None: the first)."""

    step: Callable[[State | None, str, State], State]
    age: str  # the field that rises with each row of a key


def fold_step(last: State | None, key: str, record: State) -> State:
    count = last["count"] if last else 0
    highest = max(last["max"], record["value"]) if last else record["value"]
    return {"key": key, "count": count + 1, "max": highest, "id": record["id"]}


def last_step(last: State | None, key: str, record: State) -> State:
    found = last["expected"] + 1 if last else -1
    return {"id": record["id"], "key": key, "expected": record["seq"] - 1, "found": found}


FOLD = Workload(step=fold_step, age="count")
LAST = Workload(step=last_step, age="expected")


def run(workload: Workload, tell: Callable[[list[Row]], list[Row]] = lambda rows: rows) -> None:
    """`tell` says what is written of the true rows: all of them, unless a liar thinks otherwise."""
    folding = Folding(workload, tell)
    copying.run(
        Work(outputs=folding.outputs, assigned=folding.assigned, committed=folding.committed)
    )


class Folding:
    def __init__(self, workload: Workload, tell: Callable[[list[Row]], list[Row]]) -> None:
        self._workload = workload
        self._tell = tell
        self._states: dict[str, State] = {}
        self._pending: ChainMap[str, State] = ChainMap()

    def assigned(self, partitions: list[int]) -> None:
        self._states = restored(partitions, self._workload.age)

    def outputs(self, batch: Batch) -> list[Output]:
        # What an aborted transaction would have made of the states is forgotten with this map.
        self._pending = ChainMap({}, self._states)
        rows = []
        for message in batch:
            key = message.key().decode()
            row = self._workload.step(self._pending.get(key), key, json.loads(message.value()))
            self._pending[key] = row
            rows.append(Row(key, message.partition(), row))
        return [
            Output(row.key.encode(), json.dumps(row.value).encode(), row.partition)
            for row in self._tell(rows)
        ]

    def committed(self) -> None:
        self._states.update(self._pending.maps[0])


def restored(partitions: list[int], age: str) -> dict[str, State]:
    """The newest row of each key in these partitions of the output."""
    consumer = Consumer(
        client_settings()
        | {
            "group.id": f"{setting('APP_ID')}-restore",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
        }
    )
    topic = setting("OUTPUT_TOPIC")
    consumer.assign([TopicPartition(topic, partition, 0) for partition in partitions])
    states: dict[str, State] = {}
    unread = set(partitions)
    give_up_at = time.monotonic() + RESTORE_S_MAX
    while unread and time.monotonic() < give_up_at:
        message = consumer.poll(0.5)
        if message is None:
            continue
        if message.error() is None:
            row = json.loads(message.value())
            if row[age] >= states.get(row["key"], row)[age]:
                states[row["key"]] = row
        elif message.error().code() == KafkaError._PARTITION_EOF:
            unread.discard(message.partition())
    consumer.close()
    if unread:
        raise KafkaException(KafkaError(KafkaError._TIMED_OUT, f"{topic} {unread} not restored"))
    return states
