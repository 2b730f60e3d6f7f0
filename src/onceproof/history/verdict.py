"""The verdict of one run, and verdict.json, whose shape other people's scripts rely on."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from onceproof.files import write_json
from onceproof.history.fault_record import FaultRecord
from onceproof.history.finding import Finding
from onceproof.history.point import Point


class Verdict(StrEnum):
    HELD = "HELD"
    BROKEN = "BROKEN"
    UNKNOWN = "UNKNOWN"

    @property
    def exit_code(self) -> int:
        return {"HELD": 0, "BROKEN": 1, "UNKNOWN": 2}[self.value]


@dataclass(frozen=True, kw_only=True)
class TrialResult:
    """Everything verdict.json says."""

    scenario: str
    suspect: str
    workload: str
    seed: int
    verdict: Verdict
    reasons: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    faults: tuple[FaultRecord, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    duration_s: float = 0.0
    iterations: int | None = None  # of a loop: how many were carried out
    repeat: str = ""
    points: tuple[Point, ...] = ()  # what the scenario expects besides
    checks_off: tuple[str, ...] = ()  # that do not fit this trial: nobody looked

    @property
    def anomalies(self) -> dict[str, int]:
        """What it was convicted of. Findings of one that ended UNKNOWN are worth nothing."""
        is_broken = self.verdict is Verdict.BROKEN
        return {each.anomaly: each.count for each in self.findings} if is_broken else {}

    def to_json(self) -> dict[str, Any]:
        return {
            "scenario": self.scenario,
            "suspect": self.suspect,
            "workload": self.workload,
            "seed": self.seed,
            "verdict": self.verdict.value,
            "reasons": list(self.reasons),
            "counts": dict(self.counts),
            "findings": [finding.to_json() for finding in self.findings],
            "faults": [fault.to_json() for fault in self.faults],
            "versions": dict(self.versions),
            "duration_s": round(self.duration_s, 1),
            "iterations": self.iterations,
            "repeat": self.repeat,
            "points": [point.to_json() for point in self.points],
            "checks_off": list(self.checks_off),
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "TrialResult":
        return TrialResult(
            scenario=data["scenario"],
            suspect=data["suspect"],
            workload=data["workload"],
            seed=data["seed"],
            verdict=Verdict(data["verdict"]),
            reasons=tuple(data["reasons"]),
            counts=data["counts"],
            findings=tuple(Finding.from_json(finding) for finding in data["findings"]),
            faults=tuple(FaultRecord.from_json(fault) for fault in data["faults"]),
            versions=data["versions"],
            duration_s=data["duration_s"],
            iterations=data["iterations"],
            repeat=data["repeat"],
            points=tuple(Point.from_json(point) for point in data.get("points", ())),
            checks_off=tuple(data.get("checks_off", ())),
        )

    def save(self, path: Path) -> None:
        write_json(path, self.to_json())

    @staticmethod
    def load(path: Path) -> "TrialResult":
        return TrialResult.from_json(json.loads(path.read_text(encoding="utf-8")))
