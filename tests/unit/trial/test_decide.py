"""HELD is earned, BROKEN is shown, everything else is UNKNOWN."""

import pytest

from onceproof.history.fault_record import FaultRecord
from onceproof.history.finding import Finding
from onceproof.history.verdict import Verdict
from onceproof.trial.judging.decide import Evidence, decide

LOST = Finding(anomaly="lost", count=3)


def fault(*, applied: bool = True) -> FaultRecord:
    return FaultRecord(
        action="kill", target="instance 0", at_s=1.0, applied=applied, evidence="was gone"
    )


def good(**changes: object) -> Evidence:
    given = {"faults": [fault()], "faults_scheduled": 1, "fed": 9, "fed_expected": 9, "output": 9}
    return Evidence(**{**given, **changes})


def test_held_needs_everything_in_place() -> None:
    assert decide(good()) == (Verdict.HELD, ())


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"faults": [fault(applied=False)]}, "kill(instance 0) did not apply: was gone"),
        ({"faults": []}, "1 faults were scheduled, 0 were tried"),
        ({"fed": 8}, "8 of 9 input records were fed"),
        ({"output": 0}, "the output is empty"),
        ({"doubts": ["nobody saw it"]}, "nobody saw it"),
        ({"crashed": {"lost": "KeyError"}}, "check lost could not be carried out: KeyError"),
    ],
)
def test_anything_missing_makes_it_unknown_with_the_reason(changes: dict, reason: str) -> None:
    assert decide(good(**changes)) == (Verdict.UNKNOWN, (reason,))


def test_a_finding_is_broken_even_where_held_could_not_have_been_said() -> None:
    verdict, reasons = decide(good(findings=[LOST], faults=[], fed=8))
    assert (verdict, reasons) == (Verdict.BROKEN, ("lost: 3",))


def test_without_a_truth_no_finding_counts() -> None:
    verdict, reasons = decide(good(findings=[LOST], no_truth=["the two readers disagree"]))
    assert (verdict, reasons) == (Verdict.UNKNOWN, ("the two readers disagree",))
