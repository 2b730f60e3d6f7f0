"""At least once: process a batch, wait until its output is acknowledged, then commit its offsets.

    poll ──▶ produce ──▶ flush ──▶ commit ──▶ poll …
                              ▲
                              killed here: the batch comes again, and its output twice

With `--set commit=per_partition` each partition of a batch is processed and committed on its own:
less comes again. The producer is a plain one: what it sends again after a lost answer is written
twice as well (unlike consumer_idempotent's).
"""

import sys

from confluent_kafka import Consumer, Message, Producer

from onceproof.suspects.consumers.contract import (
    BATCH_WAIT_S,
    Ending,
    batch_max,
    by_partition,
    choice,
    commit,
    consumer_settings,
    copy_out,
    producer_settings,
    records_of,
    say,
    subscribe,
)

# One request at a time: what is sent again cannot overtake what was sent after it.
PLAIN = {"acks": "all", "max.in.flight.requests.per.connection": 1}
PORTIONS = ("batch", "per_partition")


def main() -> int:
    ending = Ending()
    producer = Producer(producer_settings(**PLAIN))
    consumer = Consumer(consumer_settings())
    subscribe(consumer)
    say("started")
    while not ending.asked:
        records = records_of(consumer.consume(batch_max(), BATCH_WAIT_S))
        for portion in portions(records):
            last = None if portion is records else portion[-1]
            copy_out(producer, portion)
            if commit(consumer, last):
                say("committed", records=len(portion))
    consumer.close()
    say("stopped")
    return 0


def portions(records: list[Message]) -> list[list[Message]]:
    """What is processed and committed at once; nothing of an empty batch."""
    if choice("commit", PORTIONS) == "per_partition":
        return list(by_partition(records).values())
    return [records] if records else []


if __name__ == "__main__":
    sys.exit(main())
