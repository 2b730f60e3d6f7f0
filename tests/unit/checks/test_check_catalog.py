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
        assert (folder / f"{name.replace('-', '_')}.py").exists()


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"unknown check 'loss'; known: .*died, diverged, "):
        check_named("loss")


def test_topics_alone_are_judged_by_what_topics_show() -> None:
    plain = {"lost", "duplicated", "diverged", "stale", "wrong", "invented"}
    assert applying() == plain | {"reordered"}
    assert applying(ordered=False) == plain
    assert applying(cumulative=True) == plain | {"regressed"}


def test_batches_and_events_bring_their_checks() -> None:
    assert applying(batches=NO_DATA) - applying() == {"leaked"}
    assert applying(events=NO_DATA) - applying() == {"stuck", "died"}


def test_the_wire_brings_the_checks_that_fit_how_the_suspect_keeps_its_position() -> None:
    wire = {"frames": NO_DATA}
    anybody = {"zombie-write"}
    unknown = anybody | {"unguarded-offset-commit"}
    assert applying(**wire) - applying() == unknown
    assert applying(**wire, offsets_in_group=False, transactional=True) - applying() == anybody
    group = unknown | {"deleted-unread"}
    assert applying(**wire, offsets_in_group=True) - applying() == group
    assert applying(**wire, offsets_in_group=True, transactional=False) - applying() == group
    both = group | {"commit-without-offsets"}
    assert applying(**wire, offsets_in_group=True, transactional=True) - applying() == both


def test_a_run_brings_what_the_wire_alone_cannot_tell() -> None:
    wire = {"frames": NO_DATA}
    more = applying(**wire, batches=NO_DATA) - applying(**wire)
    assert more == {"leaked", "hanging-transaction"}
    events = {**wire, "events": NO_DATA}
    assert "shared-transactional-id" not in applying(**events)
    assert "shared-transactional-id" in applying(**events, began_at_s=0.0)
    assert applying(offsets_in_group=True, transactional=True, began_at_s=0.0) == applying()
