"""Idle commits are what Kafka itself writes: our own reader understands them."""

import re

import pytest

from onceproof.cluster.offset_commits import parse_commit
from onceproof.errors import UsageError
from onceproof.faults.fill_offsets import commit_key, commit_value
from onceproof.faults.schedule import Aim, parse_schedule

FILL = {"action": "fill_offsets", "target": "broker:offsets_donor", "at": "2%"}


def test_a_commit_is_one_that_can_be_read() -> None:
    assert parse_commit(commit_key("g", "idle", 2), commit_value(58)) == ("g", "idle", 2, 58)


def test_a_step_that_fills_needs_no_proxy_and_one_that_looks_for_a_late_end_does() -> None:
    filled, killed = parse_schedule(
        [
            {**FILL, "commits": 1000},
            {"action": "kill", "target": "instance:0", "at": "2%", "aim": "late_end"},
        ]
    )
    assert (filled.needs_wire, filled.parameters) == (False, {"commits": 1000})
    assert (killed.needs_wire, killed.aim) == (True, Aim.LATE_END)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({}, "a fault's `commits` must be a whole number from 1; got None"),
        ({"commits": 0}, "must be a whole number from 1; got 0"),
        ({"commits": 1.5}, "must be a whole number from 1; got 1.5"),
        ({"commits": 5, "delay_s": 1}, "unknown parameter of fill_offsets 'delay_s'"),
        ({"commits": 5, "target": "instance:0"}, "action 'fill_offsets' is for brokers"),
    ],
)
def test_bad_parameters_are_told(change: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        parse_schedule([{**FILL, **change}])
