"""The honest loop of all programs here: consume, transform, produce, in transactions.

    poll ──batch──▶ begin ─▶ produce outputs(batch) ─▶ send offsets ─▶ commit ──▶ poll …
      ▲                              │ a transaction that must be aborted
      └── seek to what is committed ◀┘
    any other error: both clients are closed and made anew; the new producer fences the old one

An output is visible if and only if the position that belongs to it is.
A liar changes one part of `Work`.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition
from contract import CALL_S, client_settings, run_until_stopped, say, setting, stop, watch

ANY_PARTITION = -1
BATCH_MAX = 200
BATCH_WAIT_S = 0.2
RETRY_S_MAX = 60.0
# Slower than this, librdkafka may have sent EndTxn twice, and the first may still come and end the
# next transaction (KAFKA-17754): only a new epoch keeps it out.
COMMIT_S_DOUBTFUL = 5.0

Batch = list[Message]


class Output(NamedTuple):
    key: bytes | None
    value: bytes
    partition: int = ANY_PARTITION


def unchanged(batch: Batch) -> list[Output]:
    return [Output(message.key(), message.value()) for message in batch]


@dataclass(frozen=True, kw_only=True)
class Work:
    """What is done with the records. Everything here is honest."""

    outputs: Callable[[Batch], list[Output]] = unchanged
    before: Callable[[Consumer, Batch], None] = lambda _consumer, _batch: None
    assigned: Callable[[list[int]], None] = lambda _partitions: None
    committed: Callable[[], None] = lambda: None
    batch_wait_s: float = BATCH_WAIT_S


def place(message: Message) -> tuple[int, int]:
    return message.partition(), message.offset()


def run(work: Work | None = None) -> None:
    """Until SIGTERM."""
    run_until_stopped(lambda: _sessions(work or Work()))


def _sessions(work: Work) -> None:
    while not stop.asked:
        session = Session(work)
        try:
            session.run()
        except KafkaException as error:
            sys.stderr.write(f"beginning anew after {error}\n")
        finally:
            session.close()


class Session:
    """One consumer and one producer, until the first error that an abort does not mend."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._batch: Batch = []
        self._group: Any = None
        self._producer = Producer(
            client_settings()
            | {
                "transactional.id": f"{setting('APP_ID')}-{setting('INSTANCE')}",
                "transaction.timeout.ms": int(setting("TRANSACTION_TIMEOUT_MS")),
                "partitioner": "murmur2_random",
            }
        )
        self._consumer = Consumer(
            client_settings()
            | {
                "group.id": setting("APP_ID"),
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "session.timeout.ms": 6_000,
                "heartbeat.interval.ms": 1_500,
            }
        )

    def run(self) -> None:
        # Fence first: what an earlier life left open is aborted before any position is read.
        self._until_done(lambda: self._producer.init_transactions(CALL_S))
        self._consumer.subscribe(
            [setting("INPUT_TOPIC")], on_assign=self._on_assign, on_revoke=self._on_revoke
        )
        while not stop.asked:
            batch = self._next_batch()
            if batch:
                self._work.before(self._consumer, batch)
            if batch and not stop.asked:
                self._process(batch)

    def close(self) -> None:
        with watch.call():
            self._consumer.close()

    def _on_assign(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self._batch.clear()
        # Kept from here on: asked for later, it could be that of a member already thrown out.
        self._group = consumer.consumer_group_metadata()
        self._work.assigned([partition.partition for partition in partitions])

    def _on_revoke(self, _consumer: Consumer, _partitions: list[TopicPartition]) -> None:
        self._batch.clear()

    def _next_batch(self) -> Batch:
        """Rebalances happen in here, never inside a transaction; they empty what was gathered."""
        self._batch.clear()
        wait_until = time.monotonic() + self._work.batch_wait_s
        while len(self._batch) < BATCH_MAX and time.monotonic() < wait_until and not stop.asked:
            message = self._consumer.poll(0.05)
            if message is not None and message.error() is None:
                self._batch.append(message)
            elif message is not None:
                sys.stderr.write(f"poll: {message.error()}\n")
        return list(self._batch)

    def _process(self, batch: Batch) -> None:
        try:
            commit_s = self._transaction(batch)
        except KafkaException as error:
            if not error.args[0].txn_requires_abort():
                raise
            sys.stderr.write(f"aborting after {error}\n")
            self._until_done(lambda: self._producer.abort_transaction(CALL_S))
            self._rewind()
            return
        self._work.committed()
        say("committed", records=len(batch))
        if commit_s > COMMIT_S_DOUBTFUL:
            raise KafkaException(KafkaError(KafkaError._FAIL, f"slow commit: {commit_s:.1f} s"))

    def _transaction(self, batch: Batch) -> float:
        """Seconds its commit took."""
        self._producer.begin_transaction()
        for output in self._work.outputs(batch):
            self._produce(output)
        positions = {message.partition(): message.offset() + 1 for message in batch}
        topic = setting("INPUT_TOPIC")
        offsets = [TopicPartition(topic, number, at) for number, at in positions.items()]
        self._until_done(
            lambda: self._producer.send_offsets_to_transaction(offsets, self._group, CALL_S)
        )
        began = time.monotonic()
        self._until_done(lambda: self._producer.commit_transaction(CALL_S))
        return time.monotonic() - began

    def _produce(self, output: Output) -> None:
        self._producer.produce(
            setting("OUTPUT_TOPIC"),
            key=output.key,
            value=output.value,
            partition=output.partition,
        )
        self._producer.poll(0)

    def _rewind(self) -> None:
        for partition in self._consumer.committed(self._consumer.assignment(), CALL_S):
            partition.offset = max(partition.offset, 0)
            self._consumer.seek(partition)

    def _until_done(self, step: Callable[[], None]) -> None:
        """Again as long as the client says that it may be; then it is for the caller."""
        give_up_at = time.monotonic() + RETRY_S_MAX
        while True:
            try:
                with watch.call():
                    return step()
            except KafkaException as error:
                if not error.args[0].retriable() or time.monotonic() > give_up_at or stop.asked:
                    raise
