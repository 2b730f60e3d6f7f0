"""Faults on methods: the rules they become, what they take, and what shows that one fired."""

import os
import re
from typing import Any

import pytest

from onceproof.errors import FaultError, UsageError
from onceproof.faults.jvm.attach import find_jvm
from onceproof.faults.jvm.byteman import Agents
from onceproof.faults.jvm.rule import Firing, Rule, failed, firings, transformed
from onceproof.faults.method import in_words, make_rules, told_firings, why_nothing
from onceproof.faults.schedule import Step, parse_schedule

DELAY = {"action": "delay_method", "target": "broker:1", "at": "5 s"}
METHOD = "kafka.coordinator.group.GroupMetadataManager.handleTxnCompletion"
LISTING = """\
# File onceproof-1-0 line 5
RULE onceproof-1-0
CLASS Here
METHOD works
NOCOMPILE
AT ENTRY
IF TRUE
DO delay(50)
ENDRULE
Transformed in:
loader: jdk.internal.loader.ClassLoaders$AppClassLoader@30946e09
trigger method: Here.works(java.lang.String) void
compiled successfully
# File onceproof-1-1 line 12
RULE onceproof-1-1
CLASS Here
METHOD fails
ENDRULE
Transformed in:
loader: jdk.internal.loader.ClassLoaders$AppClassLoader@30946e09
trigger method: Here.fails() void
failed to compile
Rule.ensureTypeCheckedCompiled : error type checking rule onceproof-1-1
org.jboss.byteman.rule.exception.TypeException: ThrowExpression.typeCheck : not declared
	at org.jboss.byteman.rule.Action.typeCheck(Action.java:106)
# File onceproof-1-2 line 5
RULE onceproof-1-2
CLASS Gone
METHOD away
ENDRULE
OK
"""


def parsed(**more: Any) -> Step:
    (step,) = parse_schedule([{**DELAY, **more}])
    return step


def rules(*methods: str, **more: Any) -> list[Rule]:
    return make_rules("delay_method", {"method": list(methods), "delay_s": 1.5, **more}, first=1)


def test_a_delay_becomes_a_rule_that_says_when_it_fires() -> None:
    (rule,) = rules(METHOD)
    assert rule.to_text() == (
        "RULE onceproof-1-0\n"
        "CLASS kafka.coordinator.group.GroupMetadataManager\n"
        "METHOD handleTxnCompletion\n"
        "AT ENTRY\n"
        "IF TRUE\n"
        'DO traceln("onceproof-1-0 fired at " + java.lang.System.currentTimeMillis() + " in " +'
        " java.lang.Thread.currentThread().getName()); delay(1500)\n"
        "ENDRULE\n"
    )


def test_an_exception_is_thrown_as_often_as_it_is_asked_for() -> None:
    given = {"method": METHOD, "exception": "java.lang.IllegalStateException", "times": 2}
    (rule,) = make_rules("fail_method", given, first=7)
    text = rule.to_text()
    assert 'IF (TRUE) AND incrementCounter("onceproof-7-0") <= 2\n' in text
    assert 'throw new java.lang.IllegalStateException("onceproof-7-0: thrown by onceproof")' in text
    assert in_words([rule]) == (
        f"{METHOD} throws java.lang.IllegalStateException (2 times at most)"
    )


def test_a_method_may_have_another_name_in_another_version() -> None:
    first, second = rules("a.Old.name", "a.New.name")
    assert (first.name, second.name) == ("onceproof-1-0", "onceproof-1-1")
    assert in_words([first, second]) == "a.Old.name or a.New.name begins 1500 ms late"


def test_a_condition_says_which_calls_are_meant() -> None:
    first, second = rules("a.Old.name", "a.New.name", condition=["!$3", "$1 > 2"])
    assert "\nIF !$3\n" in first.to_text()
    assert "\nIF $1 > 2\n" in second.to_text()


def test_a_step_on_a_method_needs_no_proxy_but_an_agent() -> None:
    step = parsed(method=METHOD, delay_s=1, through_next=True)
    assert (step.needs_agent, step.needs_wire, step.through_next) == (True, False, True)
    assert step.parameters == {"method": METHOD, "delay_s": 1}
    assert parsed(method=[METHOD], delay_s=1).through_next is False


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"delay_s": 1}, "a fault with action 'delay_method' needs method"),
        ({"method": METHOD}, "a fault with action 'delay_method' needs delay_s"),
        ({"method": "nodot", "delay_s": 1}, "must be like \"package.Class.method\"; got 'nodot'"),
        ({"method": "a.B.c()", "delay_s": 1}, "got 'a.B.c()'"),
        ({"method": "a.B.c\nENDRULE", "delay_s": 1}, "must be like"),
        ({"method": [], "delay_s": 1}, "must name at least one; got none"),
        ({"method": METHOD, "delay_s": 0}, "`delay_s` must be a number above 0; got 0"),
        ({"method": METHOD, "delay_s": 1, "times": 1.5}, "`times` must be a whole number from 1"),
        ({"method": METHOD, "delay_s": 1, "loss_percent": 5}, "unknown parameter of delay_method"),
        ({"method": METHOD, "delay_s": 1, "condition": []}, "`condition` must be a line of text"),
        ({"method": METHOD, "delay_s": 1, "condition": "a\nb"}, "`condition` must be a line"),
        ({"action": "fail_method", "method": METHOD}, "needs exception"),
        (
            {"action": "fail_method", "method": METHOD, "exception": "Boom"},
            "`exception` must be like",
        ),
        ({"action": "kill", "method": METHOD}, "unknown parameter of kill 'method'"),
        ({"method": METHOD, "delay_s": 1, "through_next": 1}, "`through_next` is true or false"),
    ],
)
def test_what_makes_no_rule_is_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        parsed(**change)


def test_a_fault_that_lasts_through_the_next_cannot_let_its_frame_go_late() -> None:
    aimed = {"action": "kill", "target": "instance:0", "at": "5 s", "aim": "EndTxn request"}
    (step,) = parse_schedule([{**aimed, "release": "drop", "through_next": True}])
    assert step.through_next
    with pytest.raises(UsageError, match='`through_next` does not go with `release = "late"`'):
        parse_schedule([{**aimed, "release": "late", "through_next": True}])


def test_the_log_of_the_victim_shows_what_fired() -> None:
    log = [
        "2026-11-16 10:00:00.000 [main] INFO kafka - onceproof-1-0 fired at 5 in nowhere",
        "onceproof-1-0 fired at 1763287200123 in group-metadata-manager-0",
        "onceproof-2-0 fired at 1763287200456 in data-plane-1",
        "onceproof-1-0 fired",
    ]
    assert firings(log) == [
        Firing(rule="onceproof-1-0", at_ms=1763287200123, thread="group-metadata-manager-0"),
        Firing(rule="onceproof-2-0", at_ms=1763287200456, thread="data-plane-1"),
    ]


def test_what_fired_is_told_by_method_and_thread() -> None:
    seen = [Firing(rule="onceproof-1-1", at_ms=1, thread=thread) for thread in ("b", "a", "b")]
    assert told_firings(rules("a.Old.name", "a.New.name"), seen, "broker-1.log") == (
        "a.New.name was hit 3 times in a, b (logs/broker-1.log: onceproof-1-1)"
    )


def test_bytemans_listing_tells_which_rules_found_their_method() -> None:
    assert transformed(LISTING) == {"onceproof-1-0", "onceproof-1-1"}
    assert failed(LISTING) == {"onceproof-1-1": "ThrowExpression.typeCheck : not declared"}


@pytest.mark.parametrize(
    ("methods", "told"),
    [
        (("Here.works",), "Here.works of broker 1 was not called: nothing was hit"),
        (
            ("Here.works", "Here.fails"),
            "the rule on Here.fails could not be carried out: ThrowExpression.typeCheck :"
            " not declared",
        ),
    ],
)
def test_why_nothing_was_hit_is_told(methods: tuple[str, ...], told: str) -> None:
    assert why_nothing("broker 1", rules(*methods), LISTING) == told


def test_a_method_that_does_not_exist_is_told() -> None:
    assert why_nothing("broker 1", rules("Gone.away", "No.where"), "OK\n") == (
        "broker 1 has loaded no class with a method Gone.away nor No.where: nothing was hit"
    )


def test_a_process_without_a_jvm_is_left_alone() -> None:
    assert find_jvm([os.getpid(), 2**22 - 1]) is None
    with pytest.raises(FaultError, match="instance 0 is no Java process"):
        Agents(lambda _count: []).of("instance 0", [os.getpid()])
