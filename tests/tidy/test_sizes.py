"""Style is a test, not a wish: sizes, one home each, no banned names."""

import ast
import re
from pathlib import Path

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
PRINTS_IN = {"contract.py", "printing.py", "job.py", "__main__.py"}


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


TEXTS = {name_of(path): path.read_text() for path in SOURCES}
TREES = {name: ast.parse(text) for name, text in TEXTS.items()}


def test_a_file_does_not_need_scrolling_for_long() -> None:
    long = [name for name, text in TEXTS.items() if len(text.splitlines()) > FILE_LINES_MAX]
    assert long == []


def test_a_function_fits_on_a_screen() -> None:
    long = [
        f"{name}: {node.name}"
        for name, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno >= FUNCTION_LINES_MAX
    ]
    assert long == []


def test_a_module_says_what_it_is() -> None:
    assert [name for name, tree in TREES.items() if not ast.get_docstring(tree)] == []


def test_no_name_that_explains_nothing() -> None:
    parts = {name: {part.removesuffix(".py") for part in Path(name).parts} for name in TEXTS}
    assert [name for name, words in parts.items() if BANNED_NAMES & words] == []


def test_sleeping_and_printing_have_one_home_each() -> None:
    sleeping = [name for name, text in TEXTS.items() if "time.sleep(" in text]
    assert [name for name in sleeping if Path(name).name not in SLEEPS_IN] == []
    pattern = re.compile(r"(?<![.\w])print\(|sys\.std(out|err)\.write")
    printing = [name for name, text in TEXTS.items() if pattern.search(text)]
    assert [name for name in printing if Path(name).name not in PRINTS_IN] == []


def test_the_readme_and_the_decisions_stay_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= README_LINES_MAX
    for decision in (ROOT / "docs" / "decisions").glob("*.md"):
        assert len(decision.read_text().splitlines()) <= DECISION_LINES_MAX, decision.name
