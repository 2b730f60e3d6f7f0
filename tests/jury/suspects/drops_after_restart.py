"""lost: from its second start on, it skips the first record it gets, yet commits its offset."""

from pathlib import Path

import copying
from contract import setting
from copying import Batch, Output, Work, place, unchanged
from lying import Once

once = Once()


def is_restart() -> bool:
    marker = Path(setting("STATE_DIR")) / f"started-{setting('INSTANCE')}"
    seen = marker.exists()
    marker.touch()
    return seen


def outputs_but_one(batch: Batch) -> list[Output]:
    return unchanged([message for message in batch if not once(place(message))])


if __name__ == "__main__":
    copying.run(Work(outputs=outputs_but_one if is_restart() else unchanged))
