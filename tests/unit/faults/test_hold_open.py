"""Held transactions and failovers as a scenario writes them, and what is told of a lag."""

from typing import Any

import pytest

from onceproof.errors import UsageError
from onceproof.faults.hold_open import told
from onceproof.faults.schedule import parse_schedule
from onceproof.offsets.view import PartitionOffsets, Tail

HOLD = {"action": "hold_open", "target": "instance:0", "at": "20%", "aim": "mid_output"}
FAILOVER = {"action": "failover", "target": "broker:group_coordinator", "at": "30%"}


@pytest.mark.parametrize("end", ["commit", "abort"])
def test_a_held_transaction_says_how_it_ends(end: str) -> None:
    (step,) = parse_schedule([{**HOLD, "end": end}])
    assert step.parameters == {"end": end}
    assert not step.needs_wire


def test_a_transaction_may_be_held_by_one_of_its_frames() -> None:
    (step,) = parse_schedule([{**HOLD, "end": "commit", "aim": "Produce response"}])
    assert step.needs_wire


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        (HOLD, "a fault's `end` is one of commit, abort; got None"),
        ({**HOLD, "end": "never"}, "one of commit, abort; got 'never'"),
        ({**HOLD, "end": "commit", "commits": 5}, "unknown parameter of hold_open 'commits'"),
        ({**HOLD, "end": "commit", "aim": "at_once"}, "needs the aim 'mid_output'"),
        ({**HOLD, "end": "commit", "aim": "Fetch response"}, 'or "Produce response"'),
        ({**HOLD, "end": "commit", "aim": "Produce request"}, 'or "Produce response"'),
        ({**HOLD, "end": "commit", "target": "broker:1"}, "for instances"),
        ({**FAILOVER, "target": "broker:1"}, "'failover' is for broker:group_coordinator"),
        ({**FAILOVER, "end": "abort"}, "end"),
    ],
)
def test_what_does_not_go_together_is_told(entry: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_schedule([entry])
    assert told in str(error.value)


def test_a_lag_that_can_never_be_read_away_is_told_as_that() -> None:
    aborted = PartitionOffsets(
        topic="out",
        partition=1,
        leader=1,
        replicas=(),
        log_start=0,
        lso=9,
        hwm=9,
        position=5,
        tail=Tail(begin=0, control_records=2, last_record=7, last_committed=3),
    )
    assert told(aborted) == (
        "out-1 has LSO 9 and HWM 9, as its log shows; to a reader at 5 that is a lag of 4 as"
        " read_committed, of which none can be read, and of 4 as read_uncommitted"
    )
