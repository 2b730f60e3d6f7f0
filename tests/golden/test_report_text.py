"""report.txt, whole, for a made-up run of each verdict. ONCEPROOF_GOLDEN=write draws them anew."""

import os
from collections.abc import Callable
from pathlib import Path

import made_up_runs
import pytest
from made_up_runs import MadeUpRun

from onceproof.report.text import COLUMNS, render_text

GOLDEN = Path(__file__).parent / "report"
RUNS = {"held": made_up_runs.held, "broken": made_up_runs.broken, "unknown": made_up_runs.unknown}


@pytest.mark.parametrize("name", RUNS)
def test_the_text_report_is_word_for_word_the_golden_one(name: str) -> None:
    text = drawn(RUNS[name])
    golden = GOLDEN / f"{name}.txt"
    if os.environ.get("ONCEPROOF_GOLDEN") == "write":
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", RUNS)
def test_no_line_of_a_text_report_is_wider_than_a_terminal(name: str) -> None:
    assert max(len(line) for line in drawn(RUNS[name]).splitlines()) <= COLUMNS


def drawn(make: Callable[[], MadeUpRun]) -> str:
    made = make()
    return render_text(made.result, made.run, made.events, made.logs, made.stories())
