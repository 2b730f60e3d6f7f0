"""Trials beside each other: who is held while who is judged. Trials are stand-ins with notes."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from onceproof.errors import MachineError, OnceproofError
from onceproof.trial.many import relay

QUIET = SimpleNamespace(schedule=())
HITS_BROKERS = SimpleNamespace(schedule=(SimpleNamespace(hits_brokers=True),))


class Notes:
    """What happened, in order; and premises whose brokers are whole."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.spark = SimpleNamespace(apart=lambda: None)

    def needs_ground(self) -> bool:
        return False

    def stand(self, _plan: object) -> None:
        return None

    def leave(self) -> None:
        self.lines.append("leave")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[list[str], list[Any]]]:
    notes = Notes()

    class StandIn:
        def __init__(self, plan: Any, *_: object, **__: object) -> None:
            self.name = plan.name
            self.problem = getattr(plan, "problem", None)
            self.fails_at_judgement = getattr(plan, "fails_at_judgement", False)
            self.directory = SimpleNamespace(path=Path(plan.name))

        def hold(self) -> None:
            if self.problem is not None:
                raise self.problem
            notes.lines.append(f"hold {self.name}")

        def judge(self) -> str:
            if self.fails_at_judgement:
                raise KeyboardInterrupt
            return f"verdict of {self.name}"

        def abandon(self) -> None:
            notes.lines.append(f"abandon {self.name}")

    monkeypatch.setattr(relay, "Trial", StandIn)

    def go(*plans: Any, alone: str = "", own_brokers: bool = False) -> tuple[list[str], list[Any]]:
        named = [
            (str(n), SimpleNamespace(**vars(plan), name=str(n))) for n, plan in enumerate(plans)
        ]
        ended = []
        going = relay.Relay(premises=notes, own_brokers=own_brokers)  # type: ignore[arg-type]
        for each in going.run(named, lambda _: None, alone=lambda key: key == alone):  # type: ignore[arg-type]
            notes.lines.append(f"told {each.key}")
            ended.append(each)
        return notes.lines, ended

    go.lines = notes.lines  # type: ignore[attr-defined]
    return go


def test_the_next_are_held_while_the_first_is_judged(run: Any) -> None:
    lines, ended = run(QUIET, QUIET, QUIET)
    assert lines == ["hold 0", "hold 1", "hold 2", "told 0", "told 1", "told 2"]
    assert [each.result for each in ended] == ["verdict of 0", "verdict of 1", "verdict of 2"]


def test_nothing_is_judged_while_brokers_are_hit_or_time_is_taken(run: Any) -> None:
    lines, _ = run(QUIET, HITS_BROKERS, QUIET)
    assert lines[:3] == ["hold 0", "told 0", "hold 1"]


def test_with_brokers_of_its_own_each_is_held_while_one_is_judged(run: Any) -> None:
    lines, _ = run(HITS_BROKERS, HITS_BROKERS, HITS_BROKERS, own_brokers=True)
    assert lines == ["hold 0", "hold 1", "told 0", "hold 2", "told 1", "told 2"]


def test_one_that_is_timed_has_the_machine_for_itself(run: Any) -> None:
    lines, _ = run(QUIET, QUIET, QUIET, alone="1")
    assert lines[:3] == ["hold 0", "told 0", "hold 1"]


def test_brokers_go_with_a_trial_that_could_not_begin_but_not_while_one_is_judged(run: Any) -> None:
    failing = SimpleNamespace(schedule=(), problem=OnceproofError("no brokers"))
    lines, ended = run(QUIET, failing, QUIET)
    assert lines == ["hold 0", "told 0", "leave", "told 1", "hold 2", "told 2"]
    assert (ended[1].result, ended[1].problem) == (None, "no brokers")


def test_what_the_machine_lacks_is_no_fault_of_the_brokers(run: Any) -> None:
    failing = SimpleNamespace(schedule=(), problem=MachineError("no PostgreSQL"))
    lines, ended = run(failing, QUIET)
    assert lines == ["told 0", "hold 1", "told 1"]
    assert ended[0].problem == "no PostgreSQL"


def test_one_that_is_held_when_all_is_given_up_is_ended_unjudged(run: Any) -> None:
    failing = SimpleNamespace(schedule=(), fails_at_judgement=True)
    with pytest.raises(KeyboardInterrupt):
        run(failing, QUIET, own_brokers=True)
    assert run.lines == ["hold 0", "hold 1", "abandon 1"]
