"""reordered: writes two neighbouring records of one key in the wrong order, once."""

import copying
from copying import Batch, Output, Work, place, unchanged
from lying import Once

once = Once()


def outputs(batch: Batch) -> list[Output]:
    rows = unchanged(batch)
    for later, earlier in neighbours(batch):
        if once(place(batch[earlier])):
            rows[earlier], rows[later] = rows[later], rows[earlier]
            break
    return rows


def neighbours(batch: Batch) -> list[tuple[int, int]]:
    """Each record with the one of the same key before it in the batch."""
    seen: dict[bytes, int] = {}
    pairs = []
    for index, message in enumerate(batch):
        if message.key() in seen:
            pairs.append((index, seen[message.key()]))
        seen[message.key()] = index
    return pairs


if __name__ == "__main__":
    # Long enough for a key to come twice, also where the input is fed slowly.
    copying.run(Work(outputs=outputs, batch_wait_s=2.0))
