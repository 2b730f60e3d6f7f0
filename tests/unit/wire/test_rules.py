"""What rules do to frames that fit, and what they count."""

import random
from dataclasses import replace
from typing import Any

import pytest
from test_matching import END, PRODUCE

from onceproof.errors import UsageError
from onceproof.wire.matching import Seen
from onceproof.wire.rulebook import RuleBook
from onceproof.wire.rules.catalog import make_rule
from onceproof.wire.verdict import PASS, Answer, Disconnect, Drop, Hold, Verdict, Wait


def book(*rules: dict[str, Any]) -> RuleBook:
    made = RuleBook(random.Random(1))
    for rule in rules:
        made.add(make_rule(rule))
    return made


def verdicts(given: RuleBook, *frames: Seen, now: float = 0.0) -> list[Verdict]:
    return [given.rule_on(seen, now).verdict for seen in frames]


@pytest.mark.parametrize(
    ("rule", "verdict"),
    [
        ({"rule": "delay", "seconds": 0.1}, Wait(0.1)),
        ({"rule": "hold"}, Hold(by="r")),
        ({"rule": "partition"}, Hold(by="r")),
        ({"rule": "drop"}, Drop()),
        ({"rule": "disconnect"}, Disconnect()),
        (
            {"rule": "error_response", "code": 51, "match": {"api": "EndTxn"}},
            Answer(error_code=51),
        ),
        ({"rule": "loss", "percent": 0.0}, PASS),
        ({"rule": "refuse"}, PASS),
    ],
)
def test_each_rule_does_its_own(rule: dict[str, Any], verdict: Verdict) -> None:
    assert verdicts(book({"name": "r", **rule}), END) == [verdict]


def test_a_frame_that_does_not_fit_passes() -> None:
    given = book({"name": "r", "rule": "drop", "match": {"api": "EndTxn"}})
    assert verdicts(given, PRODUCE) == [PASS]
    assert (given.counts("r").fitted, given.counts("r").applied) == (0, 0)


def test_the_third_is_the_third_of_those_that_fit_and_no_other() -> None:
    match = {"api": "EndTxn", "occurrence": 3}
    given = book({"name": "r", "rule": "hold", "match": match})
    found = verdicts(given, END, PRODUCE, END, END, END)
    assert found == [PASS, PASS, PASS, Hold(by="r"), PASS]
    assert (given.counts("r").fitted, given.counts("r").applied) == (4, 1)


def test_a_rule_that_acts_twice_leaves_the_third_alone() -> None:
    given = book({"name": "r", "rule": "drop", "times": 2})
    assert verdicts(given, END, END, END) == [Drop(), Drop(), PASS]


def test_a_frame_nobody_could_read_is_told_and_not_counted_as_applied() -> None:
    given = book({"name": "r", "rule": "drop", "match": {"api": "EndTxn", "committed": True}})
    ruling = given.rule_on(replace(END, facts=None), 0.0)
    assert (ruling.verdict, ruling.undecoded_for) == (PASS, ("r",))
    assert (given.counts("r").applied, given.counts("r").undecoded) == (0, 1)


def test_a_loss_is_a_stall_of_tcps_timeouts_and_as_frequent_as_asked() -> None:
    given = book({"name": "r", "rule": "loss", "percent": 5.0})
    found = [given.rule_on(END, 0.0).verdict for _ in range(4_000)]
    stalls = [each.seconds for each in found if isinstance(each, Wait)]
    assert 0.03 < len(stalls) / len(found) < 0.07
    assert {0.2, 0.6} <= {round(stall, 6) for stall in stalls}
    assert given.counts("r").applied == len(stalls)


def test_waits_add_up_and_a_stronger_rule_outweighs_them() -> None:
    slow = {"name": "slow", "rule": "delay", "seconds": 0.25}
    slower = {"name": "slower", "rule": "delay", "seconds": 0.5}
    assert verdicts(book(slow, slower), END) == [Wait(0.75)]
    gone = {"name": "gone", "rule": "drop", "match": {"api": "EndTxn"}}
    given = book(slow, gone, slower)
    assert verdicts(given, END, PRODUCE) == [Drop(), Wait(0.75)]
    assert [given.counts(name).applied for name in ("slow", "gone", "slower")] == [1, 1, 1]


def test_a_large_frame_is_many_packets() -> None:
    given = book({"name": "r", "rule": "loss", "percent": 5.0})
    large = replace(END, size=60_000)
    found = [given.rule_on(large, 0.0).verdict for _ in range(500)]
    assert sum(isinstance(each, Wait) for each in found) > 350


def test_a_narrow_line_is_shared_and_recovers() -> None:
    given = book({"name": "r", "rule": "bandwidth", "bytes_per_s": 640.0})
    assert verdicts(given, END, END) == [Wait(0.1), Wait(0.2)]
    assert verdicts(given, END, now=10.0) == [Wait(pytest.approx(0.1))]


def test_nobody_new_is_let_in_where_connections_are_refused() -> None:
    given = book({"name": "r", "rule": "refuse", "match": {"broker": 2}})
    assert not given.admits(replace(END, api=""))
    assert given.admits(replace(END, api="", broker=1))
    given.remove("r")
    assert given.admits(replace(END, api=""))
    assert given.counts("r").applied == 1


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"rule": "drop"}, "a rule needs a name"),
        ({"name": "r", "rule": "drpo"}, "drop"),
        ({"name": "r", "rule": "delay"}, "rule r .delay.: .*seconds"),
        ({"name": "r", "rule": "drop", "match": {"topik": "x"}}, "topic"),
        ({"name": "r", "rule": "drop", "match": {"direction": "there"}}, "request"),
        (
            {"name": "r", "rule": "error_response", "code": 0, "match": {"api": "EndTxn"}},
            "error code 0 is no error",
        ),
        (
            {"name": "r", "rule": "error_response", "code": 51, "match": {"api": "Produce"}},
            "is for a request of InitProducerId, .*; got Produce request",
        ),
        (
            {
                "name": "r",
                "rule": "hold",
                "cut_client": True,
                "match": {"api": "EndTxn", "direction": "response"},
            },
            "cut_client is for requests; got response",
        ),
        ({"name": "r", "rule": "bandwidth", "bytes_per_s": 0}, "must be above 0"),
    ],
)
def test_a_rule_that_cannot_be_is_refused_with_what_could(
    rule: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        make_rule(rule)


def test_a_name_is_for_one_rule() -> None:
    given = book({"name": "r", "rule": "drop"})
    given.remove("r")
    with pytest.raises(UsageError, match="there is, or was, a rule r"):
        given.add(make_rule({"name": "r", "rule": "drop"}))
