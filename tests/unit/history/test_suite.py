"""A suite's outcome: what is as expected, what is not, and what could not be told."""

import pytest

from onceproof.history.finding import Finding
from onceproof.history.suite import SuiteCase
from onceproof.history.verdict import TrialResult, Verdict

H, B, U = Verdict.HELD, Verdict.BROKEN, Verdict.UNKNOWN


def ended(verdict: Verdict, expected: Verdict | None, *anomalies: str) -> SuiteCase:
    findings = tuple(Finding(anomaly=each, count=1) for each in anomalies)
    result = TrialResult(
        scenario="s",
        suspect="c",
        workload="copy",
        seed=1,
        verdict=verdict,
        reasons=("it rained",),
        findings=findings,
    )
    named = ("lost", "premature-offset")
    return SuiteCase(title="s", expected=expected, expected_anomalies=named, result=result)


@pytest.mark.parametrize(
    ("verdict", "expected", "anomalies", "code", "told"),
    [
        (H, H, (), 0, "HELD, as expected"),
        (B, B, ("lost", "premature-offset"), 0, "BROKEN (lost, premature-offset), as expected"),
        (
            B,
            B,
            ("lost",),
            1,
            "BROKEN (lost), but expected BROKEN lost premature-offset",
        ),
        (H, B, (), 1, "HELD, but expected BROKEN lost premature-offset"),
        (B, H, ("lost",), 1, "BROKEN (lost), but expected HELD"),
        (U, H, (), 2, "UNKNOWN (it rained), but expected HELD"),
        # What it seemed to find is worth nothing.
        (U, B, ("lost",), 2, "UNKNOWN (it rained), but expected BROKEN lost premature-offset"),
        (B, None, ("lost",), 0, "BROKEN (lost); none was expected"),
        (U, None, (), 2, "UNKNOWN (it rained), but expected a verdict"),
    ],
)
def test_an_outcome_is_held_against_what_its_version_should_give(
    verdict: Verdict,
    expected: Verdict | None,
    anomalies: tuple[str, ...],
    code: int,
    told: str,
) -> None:
    outcome = ended(verdict, expected, *anomalies)
    assert (outcome.code, outcome.told()) == (code, told)
