"""Style is a test, not a wish: sizes, one home each, no banned names."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
FILE_LINES_MAX = 400
FUNCTION_LINES_MAX = 50
README_LINES_MAX = 150
DECISION_LINES_MAX = 40
BANNED_NAMES = {"utils", "util", "helpers", "helper", "common", "base", "manager", "core"}
# time.sleep has one home; the sink stands alone and the warden is a bare script: they have theirs.
SLEEPS_IN = {"deadline.py", "budget.py", "warden.py"}
# job.py is a suspect: it speaks by printing JSON lines; the sink has a command line of its own.
PRINTS_IN = {"printing.py", "job.py", "__main__.py"}


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_a_file_does_not_need_scrolling_for_long(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= FILE_LINES_MAX


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_a_function_fits_on_a_screen(path: Path) -> None:
    tree = ast.parse(path.read_text())
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    long = [f.name for f in functions if (f.end_lineno or 0) - f.lineno >= FUNCTION_LINES_MAX]
    assert long == []


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_a_module_says_what_it_is(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text()))


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_no_name_that_explains_nothing(path: Path) -> None:
    assert not BANNED_NAMES & {part.removesuffix(".py") for part in path.parts}


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_sleeping_and_printing_have_one_home_each(path: Path) -> None:
    text = path.read_text()
    if path.name not in SLEEPS_IN:
        assert "time.sleep(" not in text
    if path.name not in PRINTS_IN:
        assert not re.search(r"(?<![.\w])print\(|sys\.std(out|err)\.write", text)


def test_the_readme_and_the_decisions_stay_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= README_LINES_MAX
    for decision in (ROOT / "docs" / "decisions").glob("*.md"):
        assert len(decision.read_text().splitlines()) <= DECISION_LINES_MAX, decision.name
