"""Name → check. The name is the anomaly's, the command line's, and the name of the check's file."""

from collections.abc import Mapping

from onceproof.checks.case import Case
from onceproof.checks.check import INPUT_PLACE, Check
from onceproof.errors import unknown_name


def has_events(case: Case) -> bool:
    return case.events is not None


def is_cumulative(case: Case) -> bool:
    return case.cumulative


def keeps_order(case: Case) -> bool:
    return case.ordered and not case.cumulative


def has_batches(case: Case) -> bool:
    return case.batches is not None


CHECKS: Mapping[str, Check] = {
    "lost": Check(
        name="lost",
        description="an input that was passed over: its output never came",
        order=INPUT_PLACE,
    ),
    "duplicated": Check(
        name="duplicated",
        description="one output more often than the input allows",
    ),
    "diverged": Check(
        name="diverged",
        description="two outputs for one input that differ",
    ),
    "regressed": Check(
        name="regressed",
        description="a key's state that goes back",
        applies=is_cumulative,
    ),
    "stale": Check(
        name="stale",
        description="a state found that is not the one expected",
    ),
    "wrong": Check(
        name="wrong",
        description="a value the model does not allow",
    ),
    "invented": Check(
        name="invented",
        description="an output without input",
    ),
    "leaked": Check(
        name="leaked",
        description="a visible record of an aborted transaction, or of none",
        applies=has_batches,
    ),
    "reordered": Check(
        name="reordered",
        description="outputs of a key in another order than their inputs",
        applies=keeps_order,
    ),
    "stuck": Check(
        name="stuck",
        description="input left, nothing in the way, and nothing moves",
        applies=has_events,
        order=("at_s",),
    ),
    "died": Check(
        name="died",
        description="an instance that ended unasked",
        applies=has_events,
        order=("at_s", "subject"),
    ),
}


def check_named(name: str) -> Check:
    if name not in CHECKS:
        raise unknown_name("check", name, CHECKS)
    return CHECKS[name]
