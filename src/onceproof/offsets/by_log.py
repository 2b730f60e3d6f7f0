"""The same numbers out of the log itself: what a broker told must be what its batches show. Pure.

Where nobody writes, the LSO is the first offset of a batch whose transaction has no marker yet, or
the HWM. A lag is then a difference that anybody can count.
"""

from collections.abc import Iterable, Iterator

from onceproof.cluster.batches import BatchHeader, Outcome, judge
from onceproof.offsets.view import PartitionOffsets


def disagreements(told: PartitionOffsets, headers: Iterable[BatchHeader]) -> list[str]:
    """What the brokers told of a partition that stands still, against all of its batches."""
    whole = list(headers)
    end = max((each.last_offset for each in whole), default=told.log_start - 1) + 1
    lso = lso_by_log(told.partition, whole, end)
    return list(_differences(told, end, lso))


def lso_by_log(partition: int, headers: Iterable[BatchHeader], end: int) -> int:
    opened = [
        each.base_offset for each in judge(partition, headers) if each.outcome is Outcome.UNKNOWN
    ]
    return min(opened, default=end)


def outcome_at(partition: int, headers: Iterable[BatchHeader], offset: int) -> Outcome | None:
    """What became of the batch that begins there; None: none does."""
    found = (each.outcome for each in judge(partition, headers) if each.base_offset == offset)
    return next(found, None)


def _differences(told: PartitionOffsets, end: int, lso: int) -> Iterator[str]:
    position = told.position
    numbers = {
        "HWM": (told.hwm, end),
        "LSO": (told.lso, lso),
        "lag as read_uncommitted": (told.lag_read_uncommitted, _lag(end, position)),
        "lag as read_committed": (told.lag_read_committed, _lag(lso, position)),
    }
    for name, (said, counted) in numbers.items():
        if said != counted:
            where = f"{told.topic}-{told.partition}"
            yield f"{name} of {where} is told as {said}; by its log it is {counted}"


def _lag(end: int, position: int | None) -> int | None:
    return None if position is None else max(0, end - position)
