"""Exactly once with a state in memory, its offsets in a topic of its own.

    partition assigned ──▶ FENCE (init) ──▶ RESTORE (last position, full snapshot, the gap) ──▶ read
    batch ──▶ begin ─▶ output ─▶ position, as the last record of `…-offsets` ─▶ commit
    now and then the whole state ──▶ `…-snapshots`; the next position record points at it

    …-offsets-0    {"next": 1001, "snapshot": 7}      incremental: in the batch's transaction
    …-snapshots-0  @7 {"next": 1000, "state": {…}}    full: only 1000 is folded again, no output

The order is the guarantee. Whoever restores first can be overtaken: the predecessor commits once
more, and what it wrote is written again (consumer_restore_first). A full snapshot is written
outside the transaction: one that nothing points at does no harm.
"""

import json
import sys
from typing import Any

from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition

from onceproof.deadline import pause
from onceproof.suspects.consumers.contract import (
    BATCH_WAIT_S,
    CALL_S,
    Ending,
    again,
    batch_max,
    by_partition,
    consumer_settings,
    given,
    losses,
    moves_only_what_must,
    producer_settings,
    records_of,
    say,
    setting,
    work,
)
from onceproof.suspects.consumers.last_record import Reader


class Worker:
    """One input partition: its state, its position, and the producer that may write for it."""

    def __init__(self, partition: int) -> None:
        self.partition = partition
        self.next = 0
        self._state: dict[str, dict[str, Any]] = {}
        self._snapshot: int | None = None
        self._since_snapshot = 0
        self._producer: Producer | None = None

    def fence(self) -> None:
        """From here on nothing of a predecessor can be committed."""
        transactional_id = f"{given('APP_ID')}-{self.partition}"
        timeout_ms = int(given("TRANSACTION_TIMEOUT_MS"))
        producer = Producer(
            producer_settings(
                **{"transactional.id": transactional_id, "transaction.timeout.ms": timeout_ms}
            )
        )
        again(lambda: producer.init_transactions(CALL_S))
        self._producer = producer

    def restore_position(self, reader: Reader) -> None:
        last = reader.last(f"{given('APP_ID')}-offsets", self.partition)
        if last is not None:
            self.next, self._snapshot = last["next"], last["snapshot"]

    def restore_state(self, reader: Reader) -> None:
        """From the full snapshot; what was folded after it is folded once more."""
        begin = 0
        if self._snapshot is not None:
            full = reader.at(f"{given('APP_ID')}-snapshots", self.partition, self._snapshot)
            begin, self._state = full["next"], full["state"]
        for record in reader.between(given("INPUT_TOPIC"), self.partition, begin, self.next):
            self._fold(record)

    def write(self, records: list[Message]) -> None:
        """Output and position in one transaction; KafkaException: nothing of it counts."""
        producer = self._producer
        assert producer is not None
        producer.begin_transaction()
        for record in records:
            work()
            producer.produce(given("OUTPUT_TOPIC"), key=record.key(), value=self._fold(record))
            producer.poll(0)
        self.next = (records[-1].offset() or 0) + 1
        position = json.dumps({"next": self.next, "snapshot": self._snapshot})
        producer.produce(
            f"{given('APP_ID')}-offsets", value=position.encode(), partition=self.partition
        )
        again(lambda: producer.commit_transaction(CALL_S))
        self._since_snapshot += len(records)

    def snapshot_if_due(self, plain: Producer) -> None:
        if self._since_snapshot < int(setting("snapshot_every", "50")):
            return
        told: list[int] = []
        value = json.dumps({"next": self.next, "state": self._state}).encode()
        plain.produce(
            f"{given('APP_ID')}-snapshots",
            value=value,
            partition=self.partition,
            on_delivery=lambda error, message: (
                None if error else told.append(message.offset() or 0)
            ),
        )
        plain.flush(CALL_S)
        if told:
            self._snapshot, self._since_snapshot = told[0], 0

    def _fold(self, record: Message) -> bytes:
        """What comes out for a record: itself, or the new state of its key."""
        value = record.value() or b""
        if given("WORKLOAD") == "copy":
            return value
        key, data = (record.key() or b"").decode(), json.loads(value)
        before = self._state.get(key, {"count": 0, "max": data["value"]})
        highest = max(before["max"], data["value"])
        after = {"key": key, "count": before["count"] + 1, "max": highest, "id": data["id"]}
        self._state[key] = after
        return json.dumps(after).encode()


class Workers:
    """One for each partition this member has; they come and go with the rebalances."""

    def __init__(self, consumer: Consumer, *, fence_first: bool) -> None:
        self._consumer = consumer
        self._fence_first = fence_first
        self._reader = Reader()
        self._plain = Producer(producer_settings(**{"enable.idempotence": True}))
        self._by_partition: dict[int, Worker] = {}

    def assigned(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        workers = self._start([place.partition for place in partitions])
        for place in partitions:
            place.offset = workers[place.partition].next
        if moves_only_what_must():
            consumer.incremental_assign(partitions)
        else:
            consumer.assign(partitions)

    def gone(self, _consumer: Consumer, partitions: list[TopicPartition]) -> None:
        for place in partitions:
            self._by_partition.pop(place.partition, None)

    def _start(self, partitions: list[int]) -> dict[int, Worker]:
        workers = [Worker(partition) for partition in partitions]
        steps = (self._fence, self._restore)
        for step in steps if self._fence_first else reversed(steps):
            step(workers)
        self._by_partition.update({worker.partition: worker for worker in workers})
        return self._by_partition

    def _fence(self, workers: list[Worker]) -> None:
        for worker in workers:
            worker.fence()

    def _restore(self, workers: list[Worker]) -> None:
        """`--set restore_s=N`: so long a large state takes to be read."""
        for worker in workers:
            worker.restore_position(self._reader)
        say("started", positions={worker.partition: worker.next for worker in workers})
        pause(float(setting("restore_s", "0")))
        for worker in workers:
            worker.restore_state(self._reader)

    def write(self, partition: int, records: list[Message]) -> None:
        worker = self._by_partition.get(partition)
        if worker is None:
            return  # it went to another member while these records were on their way
        try:
            worker.write(records)
        except KafkaException as error:
            say("refused", partition=partition, why=str(error))
            self._begin_again(partition)
            return
        say("committed", partition=partition, records=len(records))
        worker.snapshot_if_due(self._plain)

    def _begin_again(self, partition: int) -> None:
        """State and position have run ahead of what is committed: both are read again."""
        worker = self._start([partition])[partition]
        try:
            self._consumer.seek(TopicPartition(given("INPUT_TOPIC"), partition, worker.next))
        except KafkaException as error:  # it has gone, and the next poll will tell so
            del self._by_partition[partition]
            say("lost", partition=partition, why=str(error))


def main(*, fence_first: bool = True) -> int:
    ending = Ending()
    consumer = Consumer(consumer_settings())
    workers = Workers(consumer, fence_first=fence_first)
    topic = [given("INPUT_TOPIC")]
    consumer.subscribe(topic, on_assign=workers.assigned, **losses(lambda _: workers.gone))
    while not ending.asked:
        records = records_of(consumer.consume(batch_max(), BATCH_WAIT_S))
        for partition, own in by_partition(records).items():
            workers.write(partition, own)
    consumer.close()
    say("stopped")
    return 0


if __name__ == "__main__":
    sys.exit(main())
