"""The catalog of checks: complete, and each applies where it can tell something."""

from pathlib import Path
from typing import Any, cast

import pytest

from onceproof import checks
from onceproof.checks.case import Case
from onceproof.checks.catalog import CHECKS, check_named
from onceproof.errors import UsageError

NO_DATA = cast(Any, object())  # conditions look at what there is, never into it


def applying(**facts: Any) -> set[str]:
    case = Case(expected=NO_DATA, observed=NO_DATA, **facts)
    return {name for name, check in CHECKS.items() if check.applies(case)}


def test_each_name_is_the_name_of_a_file_beside_the_catalog() -> None:
    folder = Path(checks.__file__).parent
    for name, check in CHECKS.items():
        assert check.name == name
        assert (folder / f"{name}.py").exists()


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match="unknown check 'loss'; known: died, diverged, "):
        check_named("loss")


def test_topics_alone_are_judged_by_what_topics_show() -> None:
    plain = {"lost", "duplicated", "diverged", "stale", "wrong", "invented"}
    assert applying() == plain | {"reordered"}
    assert applying(ordered=False) == plain
    assert applying(cumulative=True) == plain | {"regressed"}


def test_batches_and_events_bring_their_checks() -> None:
    assert applying(batches=NO_DATA) - applying() == {"leaked"}
    assert applying(events=NO_DATA) - applying() == {"stuck", "died"}
