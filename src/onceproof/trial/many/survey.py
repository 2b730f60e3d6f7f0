"""Which crash points a suspect ever comes by, from the recording of a run without any fault."""

import fnmatch
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from onceproof.faults.crash_point import FrameKind

COLUMNS = ["api", "instance", "sender", "decoded", "places"]


@dataclass(frozen=True, slots=True)
class Sighting:
    """That such a frame was sent; `topic` is one of those it speaks of, if it does of any."""

    api: str
    by_broker: bool
    topic: str | None
    decoded: bool = True  # False: what it speaks of is not known


def read_sightings(recording: Path) -> set[Sighting]:
    """All kinds of frames that instances and brokers have sent."""
    import pyarrow.dataset

    seen = set()
    # Whole parts only: the proxy may still be writing.
    parts = sorted(str(part) for part in recording.glob("*.parquet"))
    frames = pyarrow.dataset.dataset(parts, format="parquet")
    for batch in frames.to_batches(columns=COLUMNS):
        for row in batch.to_pylist():
            if row["instance"] is None and row["sender"] is None:
                continue
            topics = {place["topic"] for place in row["places"]} or {None}
            by_broker = row["sender"] is not None
            seen |= {Sighting(row["api"], by_broker, topic, row["decoded"]) for topic in topics}
    return seen


def is_reached(frame: FrameKind, sightings: Iterable[Sighting]) -> bool:
    return any(
        seen.api == frame.api
        and seen.by_broker == frame.between_brokers
        and (
            frame.topic is None
            or not seen.decoded  # it may be: a trial will tell, or say that it cannot
            or fnmatch.fnmatchcase(seen.topic or "", frame.topic)
        )
        for seen in sightings
    )
