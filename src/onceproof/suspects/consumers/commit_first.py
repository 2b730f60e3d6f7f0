"""At most once: commit the offsets of a batch, then process it.

    poll ──▶ commit ──▶ produce ──▶ flush ──▶ poll …
                    ▲
                    killed here: nobody reads the batch again, and its output never comes

Nothing ever comes twice: what is processed was committed before.
"""

import sys

from confluent_kafka import Consumer, Producer

from onceproof.suspects.consumers.contract import (
    BATCH_WAIT_S,
    Ending,
    batch_max,
    commit,
    consumer_settings,
    copy_out,
    producer_settings,
    records_of,
    say,
    subscribe,
)


def main() -> int:
    ending = Ending()
    producer = Producer(producer_settings(**{"enable.idempotence": True}))
    consumer = Consumer(consumer_settings())
    subscribe(consumer)
    say("started")
    while not ending.asked:
        records = records_of(consumer.consume(batch_max(), BATCH_WAIT_S))
        if records and commit(consumer):
            copy_out(producer, records)
            say("committed", records=len(records))
    consumer.close()
    say("stopped")
    return 0


if __name__ == "__main__":
    sys.exit(main())
