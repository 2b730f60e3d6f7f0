"""Exactly once, as the textbook has it: output and offsets in one transaction of Kafka's.

    init (fences the predecessor) ──▶ poll ──▶ begin ─▶ produce ─▶ send offsets ─▶ commit ──▶ poll …
                                                          │ a transaction that must be aborted
                                       seek back ◀── abort ◀┘
    a fatal error (fenced): both clients are made anew

Where to go back to is asked of the group, or remembered (`--set after_abort=batch`).
The client library keeps one epoch for all its transactions: a delayed EndTxn of an earlier one can
end the next (KAFKA-17754). That is on trial here, not mended.
"""

import sys

from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition

from onceproof.suspects.consumers.contract import (
    BATCH_WAIT_S,
    CALL_S,
    Ending,
    again,
    batch_max,
    choice,
    consumer_settings,
    given,
    producer_settings,
    records_of,
    say,
    subscribe,
    work,
)

# Where a suspect goes back to after an abort: what its group has committed, or what it remembers.
PLACES = ("committed", "batch")


def main() -> int:
    ending = Ending()
    after_abort = choice("after_abort", PLACES)
    while not ending.asked:
        try:
            run(ending, after_abort)
        except KafkaException as error:
            # Fenced, as after a pause: the client is of no use any more, a new one can go on.
            if not error.args[0].fatal():
                raise
            say("begins_anew", after=str(error))
    say("stopped")
    return 0


def run(ending: Ending, after_abort: str) -> None:
    """With one pair of clients, until the end or an error that no abort mends."""
    producer = Producer(
        producer_settings(
            **{
                "transactional.id": f"{given('APP_ID')}-{given('INSTANCE')}",
                "transaction.timeout.ms": int(given("TRANSACTION_TIMEOUT_MS")),
            }
        )
    )
    again(lambda: producer.init_transactions(CALL_S))
    consumer = Consumer(consumer_settings())
    try:
        subscribe(consumer)
        at_most = batch_max()
        say("started")
        while not ending.asked:
            records = records_of(consumer.consume(at_most, BATCH_WAIT_S))
            if records:
                process(producer, consumer, records, after_abort)
    finally:
        consumer.close()


def process(
    producer: Producer, consumer: Consumer, records: list[Message], after_abort: str
) -> None:
    try:
        write(producer, consumer, records)
        say("committed", records=len(records))
    except KafkaException as error:
        if not error.args[0].txn_requires_abort():
            raise
        again(lambda: producer.abort_transaction(CALL_S))
        seek_back(consumer, begin_of(records) if after_abort == "batch" else None)


def write(producer: Producer, consumer: Consumer, records: list[Message]) -> None:
    producer.begin_transaction()
    for record in records:
        work()
        producer.produce(given("OUTPUT_TOPIC"), key=record.key(), value=record.value())
        producer.poll(0)
    positions = {record.partition(): (record.offset() or 0) + 1 for record in records}
    offsets = [
        TopicPartition(given("INPUT_TOPIC"), number or 0, offset)
        for number, offset in positions.items()
    ]
    group = consumer.consumer_group_metadata()
    again(lambda: producer.send_offsets_to_transaction(offsets, group, CALL_S))
    again(lambda: producer.commit_transaction(CALL_S))


def seek_back(consumer: Consumer, places: list[TopicPartition] | None) -> None:
    """The records of an aborted transaction are read again; by default from what is committed."""
    for partition in places or consumer.committed(consumer.assignment(), CALL_S):
        partition.offset = max(partition.offset, 0)
        consumer.seek(partition)


def begin_of(records: list[Message]) -> list[TopicPartition]:
    """Where the batch began, in each of its partitions."""
    first: dict[int, int] = {}
    for record in records:
        first.setdefault(record.partition() or 0, record.offset() or 0)
    return [TopicPartition(given("INPUT_TOPIC"), *place) for place in first.items()]


if __name__ == "__main__":
    sys.exit(main())
