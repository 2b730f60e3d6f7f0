"""How far a Spark query has come, read from its checkpoint: `offsets/N` counts once `commits/N` is
there.
"""

import json
from pathlib import Path


def checkpoint_position(checkpoint: Path, topic: str) -> dict[int, int] | None:
    """Next input offset by partition, after the last committed batch; None before the first."""
    batch = _last_number(checkpoint / "commits")
    if batch is None:
        return None
    lines = (checkpoint / "offsets" / str(batch)).read_text().splitlines()
    by_topic = json.loads(lines[-1])  # one source, so the last line is its offset
    return {int(partition): offset for partition, offset in by_topic.get(topic, {}).items()}


def _last_number(folder: Path) -> int | None:
    if not folder.is_dir():
        return None
    numbers = [int(file.name) for file in folder.iterdir() if file.name.isdigit()]
    return max(numbers, default=None)
