"""The last lines of a run: the verdict in words."""

import sys

import pytest

from onceproof.cli.display import PLAIN, RED, banner
from onceproof.history.finding import Finding, Witness
from onceproof.history.verdict import TrialResult, Verdict


def result(verdict: Verdict, **more: object) -> TrialResult:
    named = {"scenario": "s", "suspect": "c", "workload": "copy", "seed": 1, "repeat": "again"}
    return TrialResult(**{**named, "verdict": verdict, **more})  # type: ignore[arg-type]


LOST = Finding(
    anomaly="lost",
    count=12,
    witnesses=tuple(Witness(sentence=f"{number} is lost.") for number in range(10)),
)


@pytest.mark.parametrize(("is_terminal", "red", "plain"), [(True, RED, PLAIN), (False, "", "")])
def test_what_breaks_is_a_bug_reproduced_in_red_with_its_iteration_and_first_witnesses(
    is_terminal: bool, red: str, plain: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal)
    assert banner(result(Verdict.BROKEN, iterations=17, findings=(LOST,))) == [
        f"{red}BUG REPRODUCED{plain} in iteration 17",
        "  lost: 12",
        "    0 is lost.",
        "    1 is lost.",
        "    2 is lost.",
        "repeat: again",
    ]


def test_nothing_else_says_so() -> None:
    counts = {"input": 6400, "output_committed": 6400}
    held = banner(result(Verdict.HELD, counts=counts, iterations=50))
    assert (
        held[0] == "50 iteration(s), 0 faults applied, 6,400 records in, 6,400 out: nothing found"
    )
    unknown = banner(result(Verdict.UNKNOWN, reasons=("it rained",)))
    assert unknown == ["  cannot tell: it rained", "repeat: again"]
