"""What became of a fault: whether it applied, when, and what shows it. Only an applied fault
counts.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class FaultRecord:
    action: str  # kill, pause, stop, …
    target: str  # what it hit: "instance 1", "broker 2 (group coordinator)"
    at_s: float  # seconds since the run began
    applied: bool
    evidence: str = ""  # what shows that it applied, or why it did not
    healed_at_s: float | None = None
    iteration: int | None = None
    recovery_s: float | None = None  # from then on until the suspect's position moved; None: not

    def to_json(self) -> dict[str, Any]:
        return {
            "action": self.action,
            "target": self.target,
            "at_s": round(self.at_s, 3),
            "applied": self.applied,
            "evidence": self.evidence,
            "healed_at_s": None if self.healed_at_s is None else round(self.healed_at_s, 3),
            "iteration": self.iteration,
            "recovery_s": None if self.recovery_s is None else round(self.recovery_s, 1),
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "FaultRecord":
        return FaultRecord(**data)
