"""The programs of the jury: what each is fed, what it is to be convicted of, what that takes."""

from dataclasses import dataclass
from pathlib import Path

SUSPECTS = Path(__file__).parent / "suspects"


@dataclass(frozen=True, kw_only=True)
class Program:
    workload: str
    anomaly: str | None = None  # None: to be acquitted
    needs_restart: bool = False  # lies only after a kill of an instance
    instances_max: int = 1
    transactional: bool = True  # all its output is in transactions
    is_killed: bool = True  # an honest one is killed once, unless it cannot stand that


HONEST = {
    "honest_copy.py": Program(workload="copy", instances_max=2),
    "honest_fold.py": Program(workload="fold"),
    "honest_last.py": Program(workload="last"),
    # Keeps no position that anybody can read: done when everything has come out.
    "honest_without_group.py": Program(workload="copy", transactional=False, is_killed=False),
}

LIARS = {
    "drops_after_restart.py": Program(workload="copy", anomaly="lost", needs_restart=True),
    "repeats_batch.py": Program(workload="copy", anomaly="duplicated"),
    "changes_its_mind.py": Program(workload="copy", anomaly="diverged"),
    "goes_back.py": Program(workload="fold", anomaly="regressed"),
    "forgets.py": Program(workload="last", anomaly="stale"),
    "writes_outside.py": Program(workload="copy", anomaly="leaked"),
    "miscounts.py": Program(workload="fold", anomaly="wrong"),
    "makes_up.py": Program(workload="copy", anomaly="invented"),
    "swaps_order.py": Program(workload="copy", anomaly="reordered"),
    "stops.py": Program(workload="copy", anomaly="stuck"),
    "dies.py": Program(workload="copy", anomaly="died"),
    "dies_at_start.py": Program(workload="copy", anomaly="died"),
}


def path_of(name: str) -> Path:
    return SUSPECTS / name
