"""Faults on a named method of a victim's JVM, carried out by Byteman.

delay_method  the method begins `delay_s` later, each time it is called (or `times` times)
fail_method   it throws `exception` instead of beginning

    { action = "delay_method", target = "broker:group_coordinator", at = "10%",
      method = "kafka.coordinator.group.GroupMetadataManager.handleTxnCompletion", delay_s = 1 }

`method` may be a list: names differ between versions, and those that are there are hit. `condition`
says on which calls, in Byteman's words ("!$3": the third argument is false); one for each method. A
rule that never fired did not apply: that is known when it is healed.
"""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from onceproof.errors import FaultError, UsageError, unknown_name
from onceproof.faults.jvm.byteman import Agent, Agents
from onceproof.faults.jvm.rule import (
    Firing,
    Rule,
    check_exception,
    failed,
    firings,
    split_method,
    transformed,
)
from onceproof.faults.victim import Victim

DELAY, FAIL = "delay_method", "fail_method"
_NEEDS = {DELAY: "delay_s", FAIL: "exception"}
_TAKES = ("method", "times", "condition")
METHOD_PARAMETERS = {*_TAKES, *_NEEDS.values()}
ALWAYS = "TRUE"
_numbers = itertools.count(1)


class MethodFault:
    def __init__(
        self, victim: Victim, agents: Agents, action: str, parameters: Mapping[str, Any]
    ) -> None:
        self._victim = victim
        self._agents = agents
        self._rules = make_rules(action, parameters, first=next(_numbers))
        self._agent: Agent | None = None
        self._log_began = 0  # where the victim's log stood at the injection
        self._seen: list[Firing] = []
        self._listing = ""

    def inject(self) -> str:
        self._agent = self._agents.of(self._victim.name, self._victim.family_pids())
        log = self._victim.log
        self._log_began = log.stat().st_size if log.exists() else 0
        self._agent.submit(self._rules)
        return in_words(self._rules)

    def heal(self) -> None:
        """A victim that was started again meanwhile is another process, without any rule."""
        if self._agent is not None and self._agent.is_there():
            self._listing = self._agent.listing()
            self._agent.withdraw(self._rules)
        self._agent = None
        self._seen = self._fired()

    def is_healed(self) -> bool:
        return self._victim.is_running()

    def outcome(self) -> str:
        """After healing. FaultError: no rule fired, and so nothing was hit."""
        if not self._seen:
            raise FaultError(why_nothing(self._victim.name, self._rules, self._listing))
        return told_firings(self._rules, self._seen, self._victim.log.name)

    def _fired(self) -> list[Firing]:
        with self._victim.log.open("rb") as log:
            log.seek(self._log_began)
            lines = log.read().decode("utf-8", errors="replace").splitlines()
        mine = {rule.name for rule in self._rules}
        return [each for each in firings(lines) if each.rule in mine]


def make_rules(action: str, parameters: Mapping[str, Any], *, first: int) -> list[Rule]:
    """One for each method."""
    rules = []
    methods = _texts(parameters["method"])
    conditions = _texts(parameters.get("condition", [ALWAYS] * len(methods)))
    for number, (method, condition) in enumerate(zip(methods, conditions, strict=True)):
        class_name, name = split_method(method)
        rules.append(
            Rule(
                name=f"onceproof-{first}-{number}",
                class_name=class_name,
                method=name,
                delay_ms=round(parameters["delay_s"] * 1000) if action == DELAY else None,
                exception=parameters["exception"] if action == FAIL else None,
                times=parameters.get("times"),
                condition=condition,
            )
        )
    return rules


def check_method_parameters(action: str, given: Mapping[str, Any]) -> None:
    needs = _NEEDS[action]
    for name in sorted(set(given) - {*_TAKES, needs}):
        raise unknown_name(f"parameter of {action}", name, (*_TAKES, needs))
    for name in ("method", needs):
        if name not in given:
            raise UsageError(f"a fault with action {action!r} needs {name}")
    methods = _texts(given["method"])
    if not methods:
        raise UsageError("a fault's `method` must name at least one; got none")
    for method in methods:
        split_method(str(method))
    conditions = _texts(given.get("condition", [ALWAYS] * len(methods)))
    if len(conditions) != len(methods) or not all(map(_is_line, conditions)):
        raise UsageError(
            f"a fault's `condition` must be a line of text for each method; got {conditions}"
        )
    if action == FAIL:
        check_exception(given["exception"])
    elif not _is_number(given["delay_s"]):
        raise UsageError(f"a fault's `delay_s` must be a number above 0; got {given['delay_s']!r}")
    times = given.get("times", 1)
    if not _is_number(times) or times != int(times):
        raise UsageError(f"a fault's `times` must be a whole number from 1; got {times!r}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def _is_line(text: object) -> bool:
    return isinstance(text, str) and bool(text.strip()) and text.isprintable()


def _texts(value: object) -> Sequence[str]:
    return list(value) if isinstance(value, list | tuple) else [str(value)]


def in_words(rules: Sequence[Rule]) -> str:
    first = rules[0]
    what = f"throws {first.exception}" if first.exception else f"begins {first.delay_ms} ms late"
    often = "" if first.times is None else f" ({_times(first.times)} at most)"
    return f"{' or '.join(rule.place for rule in rules)} {what}{often}"


def told_firings(rules: Sequence[Rule], seen: Sequence[Firing], log: str) -> str:
    """Which rules fired, how often, and in which threads."""
    told = []
    for rule in rules:
        mine = [each for each in seen if each.rule == rule.name]
        if mine:
            threads = ", ".join(sorted({each.thread for each in mine}))
            told.append(f"{rule.place} was hit {_times(len(mine))} in {threads}")
    return f"{'; '.join(told)} (logs/{log}: {seen[0].rule})"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def why_nothing(victim: str, rules: Sequence[Rule], listing: str) -> str:
    reasons = failed(listing)
    for rule in rules:
        if rule.name in reasons:
            return f"the rule on {rule.place} could not be carried out: {reasons[rule.name]}"
    found = [rule.place for rule in rules if rule.name in transformed(listing)]
    if found:
        return f"{' and '.join(found)} of {victim} was not called: nothing was hit"
    missing = " nor ".join(rule.place for rule in rules)
    return f"{victim} has loaded no class with a method {missing}: nothing was hit"
