"""Schedules are data: each moment, action and target a scenario may write, and those it may not."""

import re

import pytest

from onceproof.errors import UsageError
from onceproof.faults.schedule import Aim, Moment, Step, parse_moment, parse_schedule
from onceproof.faults.wire_aim import Release, WireAim


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("30%", Moment(progress=0.3)),
        ("100 %", Moment(progress=1.0)),
        ("5 s", Moment(seconds=5.0)),
        ("0.5s", Moment(seconds=0.5)),
        ("recovery", Moment(recovery=True)),
        ("start", Moment(start=True)),
        ("60% written", Moment(written=0.6)),
    ],
)
def test_each_moment_a_scenario_may_write(text: str, moment: Moment) -> None:
    assert parse_moment(text) == moment


@pytest.mark.parametrize("text", ["30%", "60% written", "5 s", "recovery", "start"])
def test_a_moment_is_told_as_it_is_written(text: str) -> None:
    assert str(parse_moment(text)) == text


def test_a_fault_may_be_for_one_iteration_and_bring_other_settings() -> None:
    entry = {"action": "kill", "target": "instance:0", "at": "5 s"}
    (always,) = parse_schedule([entry])
    (once,) = parse_schedule([{**entry, "iteration": 2, "settings": {"batch": "7"}}])
    assert [always.belongs_to(number) for number in (1, 2)] == [True, True]
    assert [once.belongs_to(number) for number in (1, 2)] == [False, True]
    assert once.settings == {"batch": "7"}


def test_another_start_is_needed_for_other_settings() -> None:
    entry = {"action": "pause", "target": "instance:0", "at": "5 s", "settings": {"a": "b"}}
    with pytest.raises(UsageError, match="got pause on instance:0"):
        parse_schedule([entry])


def test_a_list_of_moments_is_one_step_each() -> None:
    entry = {"action": "kill", "target": "instance:random", "at": ["10%", "2 s"]}
    assert parse_schedule([entry]) == (
        Step(actions=("kill",), target="instance:random", at=Moment(progress=0.1)),
        Step(actions=("kill",), target="instance:random", at=Moment(seconds=2.0)),
    )


def test_a_list_of_actions_is_one_step_in_which_the_seed_chooses() -> None:
    entry = {
        "action": ["kill", "pause"],
        "target": "broker:2",
        "at": "recovery",
        "heal_after_s": 4,
    }
    (step,) = parse_schedule([entry])
    assert step.actions == ("kill", "pause")
    assert (step.aim, step.heal_after_s, step.hits_brokers) == (Aim.AT_ONCE, 4.0, True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"action": "tickle"}, "unknown action 'tickle'; known: cut, delay_method, disconnect, "),
        ({"target": "broker"}, "unknown target 'broker'; known: broker:N"),
        ({"at": "soon"}, '"30% written", "5 s", "start" or "recovery"; got \'soon\''),
        ({"iteration": 0}, "a fault's `iteration` is a number from 1; got 0"),
        ({"iteration": "x"}, "a fault's `iteration` is a number from 1; got 'x'"),
        ({"settings": {"a": "b"}}, "are for an instance that it starts anew"),
        ({"settings": {"a": 1}}, "is a table of texts; got {'a': 1}"),
        ({"action": "toggle"}, "action 'toggle' is for instances; got target 'broker:1'"),
        ({"aim": "left"}, "unknown aim 'left'; known: EndTxn request, at_once, before_position"),
        ({"at": 30}, "a fault's action, target and at are texts; got 30"),
        ({"at": []}, "a fault's action, target and at name at least one each; got none"),
        ({"at": "900%"}, "must be at most 100%; got '900%'"),
        ({"target": 3}, "a fault has one `target`, a text; got 3"),
        ({"target": ["broker:1", "broker:2"]}, "a fault has one `target`, a text; got ['broker:1'"),
        ({"target": "broker:9"}, "unknown target 'broker:9'"),
        ({"aim": "mid_output"}, "aim 'mid_output' is for instances"),
        ({"aim": "before_position"}, "aim 'before_position' is for instances"),
        ({"heal_after_s": "x"}, "must be a number of seconds; got 'x'"),
        ({"when": "now"}, "unknown key of a fault 'when'; known: action, aim, at"),
    ],
)
def test_a_mistake_is_named_with_what_is_known(change: dict, message: str) -> None:
    entry = {"action": "kill", "target": "broker:1", "at": "5 s", **change}
    with pytest.raises(UsageError, match=re.escape(message)):
        parse_schedule([entry])


def test_an_action_on_the_network_has_its_parameters() -> None:
    entry = {"target": "broker:random", "at": "recovery", "heal_after_s": 4}
    (slow,) = parse_schedule([{"action": "slow", "delay_s": 0.1, "loss_percent": 5, **entry}])
    assert (slow.parameters, slow.needs_wire) == ({"delay_s": 0.1, "loss_percent": 5}, True)
    (cut,) = parse_schedule([{"action": "cut", **entry}])
    assert cut.needs_wire
    (kill,) = parse_schedule([{"action": "kill", **entry}])
    assert not kill.needs_wire


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"action": "slow"}, "a fault with action 'slow' needs delay_s or loss_percent"),
        ({"action": "slow", "delay_s": -1}, "`delay_s` must be a number above 0; got -1"),
        ({"action": "cut", "delay_s": 1}, "unknown parameter of cut 'delay_s'"),
        ({"action": ["slow", "kill"], "delay_s": 1}, "unknown parameter of kill 'delay_s'"),
    ],
)
def test_a_parameter_that_does_not_belong_is_named(change: dict, message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        parse_schedule([{"target": "broker:1", "at": "5 s", **change}])


def test_a_fault_on_the_network_may_be_for_some_frames_only() -> None:
    entry = {"action": "slow", "target": "instance:0", "at": "5 s", "delay_s": 3}
    (step,) = parse_schedule([{**entry, "frames": "EndTxn response commit #1"}])
    assert step.frames == WireAim(api="EndTxn", direction="response", committed=True, occurrence=1)
    with pytest.raises(UsageError, match="`frames` are for slow, cut; got action 'kill'"):
        parse_schedule(
            [{"action": "kill", "target": "broker:1", "at": "5 s", "frames": "EndTxn request"}]
        )


@pytest.mark.parametrize(
    ("text", "aim"),
    [
        ("EndTxn request", WireAim(api="EndTxn", direction="request")),
        ("Fetch response #12", WireAim(api="Fetch", direction="response", occurrence=12)),
        (
            "Fetch request on *.ledger #2",
            WireAim(api="Fetch", direction="request", topic="*.ledger", occurrence=2),
        ),
        (
            "EndTxn response abort #3",
            WireAim(api="EndTxn", direction="response", committed=False, occurrence=3),
        ),
    ],
)
def test_an_aim_at_a_frame(text: str, aim: WireAim) -> None:
    entry = {"action": "kill", "target": "instance:0", "at": "5 s", "aim": text}
    (step,) = parse_schedule([entry])
    assert (step.aim, step.needs_wire, str(step.aim)) == (aim, True, text)
    (late,) = parse_schedule([{**entry, "release": "late"}])
    assert isinstance(late.aim, WireAim)
    assert late.aim.release is Release.LATE


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"aim": "EndTxn sideways"},
            'late_end, before_position or like "EndTxn request #2"',
        ),
        ({"aim": "EndTx request"}, "unknown api 'EndTx'"),
        ({"aim": "EndTxn request", "release": "soon"}, "unknown release 'soon'; known: drop, late"),
        ({"release": "late"}, "`release` is for aims at a frame"),
        ({"aim": "mid_output", "target": "broker:1"}, "aim 'mid_output' is for instances"),
        ({"action": "disconnect"}, 'needs an aim like "EndTxn request"'),
        ({"action": "usurp", "target": "broker:1"}, "action 'usurp' is for instances"),
        ({"action": "isolate"}, "action 'isolate' is for brokers"),
        ({"action": "vanish"}, "action 'vanish' is for brokers"),
        ({"restart_first": True}, "`restart_first` is for aims at a frame"),
        ({"aim": "EndTxn request", "restart_first": 1}, "`restart_first` is true or false"),
    ],
)
def test_an_aim_at_a_frame_that_cannot_be(change: dict, message: str) -> None:
    entry = {"action": "kill", "target": "instance:0", "at": "5 s", **change}
    with pytest.raises(UsageError, match=re.escape(message)):
        parse_schedule([entry])


def test_a_missing_key_is_named() -> None:
    with pytest.raises(UsageError, match="a fault needs 'at'"):
        parse_schedule([{"action": "kill", "target": "broker:1"}])
