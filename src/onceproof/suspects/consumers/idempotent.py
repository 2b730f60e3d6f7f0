"""At least once, with an idempotent producer: what it sends again by itself is written once.

    produce ──▶ (no answer) ──▶ sent again, same sequence number ──▶ the broker drops it
    produce ──▶ flush ──▶ killed ──▶ a new process, a new producer id ──▶ written again

The guarantee ends with the process: its offsets are committed apart, so a crash between the two
makes a successor write the batch once more, and no sequence number tells that it is the same.
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

IDEMPOTENT = {"enable.idempotence": True, "acks": "all", "max.in.flight.requests.per.connection": 5}


def main() -> int:
    ending = Ending()
    producer = Producer(producer_settings(**IDEMPOTENT))
    consumer = Consumer(consumer_settings())
    subscribe(consumer)
    say("started")
    while not ending.asked:
        records = records_of(consumer.consume(batch_max(), BATCH_WAIT_S))
        if not records:
            continue
        copy_out(producer, records)
        if commit(consumer):
            say("committed", records=len(records))
    consumer.close()
    say("stopped")
    return 0


if __name__ == "__main__":
    sys.exit(main())
