"""duplicated: writes its first batch twice, in one transaction."""

import copying
from copying import Batch, Output, Work, place, unchanged
from lying import Once

once = Once()


def outputs(batch: Batch) -> list[Output]:
    return unchanged(batch) * (2 if once(place(batch[0])) else 1)


if __name__ == "__main__":
    copying.run(Work(outputs=outputs))
