"""From findings and doubts to a verdict. Pure: the one place that says HELD."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from onceproof.history.fault_record import FaultRecord
from onceproof.history.finding import Finding
from onceproof.history.verdict import Verdict


@dataclass(frozen=True, kw_only=True)
class Evidence:
    findings: Sequence[Finding] = ()
    faults: Sequence[FaultRecord] = ()
    faults_scheduled: int = 0
    fed: int = 0
    fed_expected: int = 0
    output: int = 0
    doubts: Sequence[str] = ()  # anything that keeps us from saying HELD
    crashed: Mapping[str, str] = field(default_factory=dict)  # checks that raised, and what
    no_truth: Sequence[str] = ()  # anything that makes findings worthless too


def decide(evidence: Evidence) -> tuple[Verdict, tuple[str, ...]]:
    """The verdict, and the reasons for one that is not HELD."""
    if evidence.no_truth:
        return Verdict.UNKNOWN, tuple(evidence.no_truth)
    if evidence.findings:
        told = (f"{each.anomaly}: {each.count}" for each in evidence.findings)
        return Verdict.BROKEN, tuple(told)
    doubts = [*evidence.doubts, *_missing(evidence)]
    return (Verdict.UNKNOWN, tuple(doubts)) if doubts else (Verdict.HELD, ())


def _missing(evidence: Evidence) -> list[str]:
    """What HELD needs and is not there."""
    missing = [
        f"{fault.action}({fault.target}) did not apply: {fault.evidence}"
        for fault in evidence.faults
        if not fault.applied
    ]
    if len(evidence.faults) < evidence.faults_scheduled:
        missing.append(
            f"{evidence.faults_scheduled} faults were scheduled, {len(evidence.faults)} were tried"
        )
    if evidence.fed < evidence.fed_expected:
        missing.append(f"{evidence.fed} of {evidence.fed_expected} input records were fed")
    if evidence.output == 0:
        missing.append("the output is empty")
    missing += [
        f"check {check} could not be carried out: {why}" for check, why in evidence.crashed.items()
    ]
    return missing
