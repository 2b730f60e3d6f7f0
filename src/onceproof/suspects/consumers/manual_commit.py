"""At least once: process a batch, wait until its output is acknowledged, then commit its offsets.

    poll ──▶ produce ──▶ flush ──▶ commit ──▶ poll …
                              ▲
                              killed here: the batch comes again, and its output twice

With `--set order=commit_first` the offsets are committed first, which is at most once: killed
between the two, the batch is lost.
"""

import sys

from confluent_kafka import Consumer, Producer

from onceproof.suspects.consumers.contract import (
    BATCH_WAIT_S,
    Ending,
    batch_max,
    choice,
    commit,
    consumer_settings,
    copy_out,
    producer_settings,
    records_of,
    say,
    subscribe,
)

ORDERS = ("output_first", "commit_first")


def main() -> int:
    ending = Ending()
    commits_first = choice("order", ORDERS) == "commit_first"
    producer = Producer(producer_settings(**{"enable.idempotence": True}))
    consumer = Consumer(consumer_settings())
    subscribe(consumer)
    at_most = batch_max()
    say("started")
    while not ending.asked:
        records = records_of(consumer.consume(at_most, BATCH_WAIT_S))
        if not records:
            continue
        if commits_first and not commit(consumer):
            continue
        copy_out(producer, records)
        if not commits_first and not commit(consumer):
            continue
        say("committed", records=len(records))
    consumer.close()
    say("stopped")
    return 0


if __name__ == "__main__":
    sys.exit(main())
