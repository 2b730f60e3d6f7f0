"""How the liars choose what to lie about: once, and the same when a transaction is repeated."""

from collections.abc import Hashable

from confluent_kafka import Consumer

RECORDS_MIN = 20
ASK_S_MAX = 10.0


class Once:
    """True for the first thing it is asked about, and for no other ever after."""

    def __init__(self) -> None:
        self._chosen: Hashable = None

    def __call__(self, thing: Hashable) -> bool:
        if self._chosen is None:
            self._chosen = thing
        return thing == self._chosen


def has_done_a_third(consumer: Consumer) -> bool:
    """Of the input as it is now. Asks the group, so that it is true after a restart as well."""
    assigned = consumer.assignment()
    done = sum(max(partition.offset, 0) for partition in consumer.committed(assigned, ASK_S_MAX))
    # Cached: a question to the broker would wait behind the fetch that is under way.
    ends = [consumer.get_watermark_offsets(partition, cached=True)[1] for partition in assigned]
    return done >= max(sum(max(end, 0) for end in ends) // 3, RECORDS_MIN)
