"""The planted mistakes of the sink: what each is to be convicted of, and on what it shows."""

from dataclasses import dataclass
from pathlib import Path

SINKS = Path(__file__).parent / "sinks"


@dataclass(frozen=True, kw_only=True)
class Mistake:
    anomalies: tuple[str, ...]
    lanes: int = 1
    honest_anomalies: tuple[str, ...] = ()  # of the same program with the real sink


MISTAKES = {
    "restore_before_fence.py": Mistake(anomalies=("duplicated",)),
    "token_outside.py": Mistake(anomalies=("duplicated",)),
    "token_too_early.py": Mistake(anomalies=("lost",)),
    "no_wait_for_stable.py": Mistake(anomalies=("duplicated",)),
    # As many lanes as input partitions: they are the lanes.
    "lane_by_index.py": Mistake(anomalies=("lost", "duplicated"), lanes=4),
    # The real sink stops where the rows are not those that it has committed.
    "skip_without_digest.py": Mistake(anomalies=("lost",), honest_anomalies=("died",)),
}
