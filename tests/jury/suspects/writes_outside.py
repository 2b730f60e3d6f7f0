"""leaked: writes one record of each of its first batches outside the transaction.

The record is the first of its batch and acknowledged before the transaction writes: it still comes
once, and in order.
"""

import copying
from confluent_kafka import Producer
from contract import client_settings, setting
from copying import Batch, Output, Work, place, unchanged

OUTSIDE_MAX = 3

written: set[tuple[int, int]] = set()


def outputs(batch: Batch) -> list[Output]:
    first = place(batch[0])
    if first not in written and len(written) < OUTSIDE_MAX:
        write_outside(unchanged(batch)[0])
        written.add(first)
    return unchanged([message for message in batch if place(message) not in written])


def write_outside(output: Output) -> None:
    producer = Producer(client_settings() | {"partitioner": "murmur2_random", "acks": "all"})
    producer.produce(setting("OUTPUT_TOPIC"), key=output.key, value=output.value)
    producer.flush()


if __name__ == "__main__":
    copying.run(Work(outputs=outputs))
