"""Which frames a rule is about."""

from dataclasses import replace
from typing import Any

import pytest

from onceproof.errors import UsageError
from onceproof.wire.facts import Facts, Place
from onceproof.wire.matching import Direction, Fit, Match, Seen

END = Seen(
    direction=Direction.REQUEST,
    listener="suspects",
    broker=2,
    connection=11,
    client_id="app-1-producer",
    instance=1,
    start=1,
    sender=None,
    api="EndTxn",
    version=4,
    correlation_id=7,
    size=64,
    facts=Facts(transactional_id="app-1-0", producer_id=5001, producer_epoch=3, committed=True),
)
PRODUCE = replace(END, api="Produce", facts=Facts(places=(Place(topic="out", partition=0),)))


@pytest.mark.parametrize(
    ("asked", "seen"),
    [
        ({}, END),
        ({"api": "EndTxn"}, END),
        ({"api": "EndTxn", "committed": True, "transactional_id": "app-1-*"}, END),
        ({"client": "app-1*", "broker": 2, "instance": 1, "listener": "suspects"}, END),
        ({"topic": "o?t"}, PRODUCE),
    ],
)
def test_what_fits(asked: dict[str, Any], seen: Seen) -> None:
    assert Match(**asked).fits(seen) is Fit.YES


@pytest.mark.parametrize(
    "asked",
    [
        {"api": "Produce"},
        {"direction": Direction.RESPONSE},
        {"broker": 1},
        {"instance": 0},
        {"client": "other*"},
        {"committed": False},
        {"transactional_id": "app-2-*"},
        {"group": "g"},
        {"topic": "out"},
    ],
)
def test_what_does_not_fit(asked: dict[str, Any]) -> None:
    assert Match(**asked).fits(END) is Fit.NO


def test_a_frame_that_could_not_be_decoded_is_unknown_only_to_a_rule_that_could_mean_it() -> None:
    undecoded = replace(END, facts=None)
    assert Match(api="EndTxn", committed=True).fits(undecoded) is Fit.UNKNOWN
    assert Match(api="EndTxn").fits(undecoded) is Fit.YES
    assert Match(api="Produce", topic="out").fits(undecoded) is Fit.NO


def test_a_slip_of_the_pen_is_told() -> None:
    with pytest.raises(UsageError, match="EndTxn"):
        Match(api="EndTx")
    with pytest.raises(UsageError, match="occurrence counts from 1; got 0"):
        Match(occurrence=0)


def test_starts_of_an_instance_and_senders_are_told_apart() -> None:
    assert Match(api="EndTxn", instance=1, start=1).fits(END) is Fit.YES
    assert Match(api="EndTxn", instance=1, start=2).fits(END) is Fit.NO
    assert Match(api="EndTxn", sender=1).fits(END) is Fit.NO
