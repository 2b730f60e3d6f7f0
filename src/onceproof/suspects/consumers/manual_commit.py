"""At least once: process a batch, wait until its output is acknowledged, then commit its offsets.

    poll ──▶ produce ──▶ flush ──▶ commit ──▶ poll …
                              ▲
                              killed here: the batch comes again, and its output twice

With `--set order=commit_first` the offsets are committed first, which is at most once: killed
between the two, the batch is lost.
"""

import sys

from confluent_kafka import Consumer, KafkaException, Producer

from onceproof.suspects.consumers.contract import (
    BATCH_WAIT_S,
    CALL_S,
    Ending,
    batch_max,
    consumer_settings,
    given,
    producer_settings,
    records_of,
    say,
    setting,
)

ORDERS = ("output_first", "commit_first")


def main() -> int:
    ending = Ending()
    order = setting("order", "output_first")
    if order not in ORDERS:
        raise SystemExit(f"--set order must be one of {', '.join(ORDERS)}; got {order!r}")
    commits_first = order == "commit_first"
    producer = Producer(producer_settings(**{"enable.idempotence": True}))
    consumer = Consumer(consumer_settings())
    consumer.subscribe([given("INPUT_TOPIC")])
    at_most = batch_max()
    say("started")
    while not ending.asked:
        records = records_of(consumer.consume(at_most, BATCH_WAIT_S))
        if not records:
            continue
        if commits_first and not commit(consumer):
            continue
        for record in records:
            producer.produce(given("OUTPUT_TOPIC"), key=record.key(), value=record.value())
        if producer.flush(CALL_S):
            raise SystemExit("output was not acknowledged in time")
        if not commits_first and not commit(consumer):
            continue
        say("committed", records=len(records))
    consumer.close()
    say("stopped")
    return 0


def commit(consumer: Consumer) -> bool:
    """False: its partitions have gone to another member, who will read the batch again."""
    try:
        consumer.commit(asynchronous=False)
    except KafkaException as error:
        if error.args[0].fatal():
            raise
        say("refused", why=str(error))
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
