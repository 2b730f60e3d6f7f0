"""A schedule as data: which action on which target, at which moment. Parsed from a scenario's TOML.

    { action = "kill", target = "instance:random", at = "30%", aim = "mid_output", heal_after_s = 0
    }

`at`      "30%"          that share of this iteration's input is processed
          "30% written"  that much output is in the log, whether or not it is committed
          "5 s"          since the iteration's feed began
          "start"        before it began: what was fed so far is processed, and nothing moves
          "recovery"     the victim of the fault before is back and has not caught up yet
          Actions on the network have parameters besides: see network.py; those on methods, too:
          method.py
`iteration`  in that one only (the first is 1); otherwise in each
`frames`     of a fault on the network: only these, written like an aim ("EndTxn response #1")
`settings`   what the instance has besides its own settings from its next start on
`aim`     "mid_output": wait, from then on, for a moment in which output is being written;
          "late_end": in which the group does not know the end of the last transaction;
          "before_position": in which its rows are in its database and its position is not yet
          (the database holds it there; for suspects that have one that can); or
          one frame of the protocol: see wire_aim.py. With `restart_first` its victim is restarted
          cleanly while the frame is waited for already: one that is sent at a start only
Steps of a schedule are carried out one after the other, so none ever hides another's effect; but
one with `through_next` is healed only after the step that follows it.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from onceproof.errors import UsageError, unknown_name
from onceproof.faults.catalog import (
    ACTIONS,
    BROKER,
    DISCONNECT,
    INSTANCE,
    PARAMETERS,
    TARGETS,
    Needs,
    action_named,
)
from onceproof.faults.hold_open import HOLD_OPEN
from onceproof.faults.network import ISOLATE
from onceproof.faults.wire_aim import Release, WireAim, parse_wire_aim

FIELDS = {"action", "target", "at", "aim", "release", "restart_first", "heal_after_s"}
FIELDS |= {"through_next", "iteration", "frames", "settings", *PARAMETERS}
_AT = re.compile(
    r"^(?:(?P<percent>\d{1,3})\s*%(?P<written>\s+written)?|(?P<seconds>\d+(?:\.\d+)?)\s*s"
    r"|(?P<word>recovery|start))$"
)
_NUMBERED = re.compile(r"^(instance:\d+|broker:[1-3])$")


class Aim(StrEnum):
    AT_ONCE = "at_once"
    MID_OUTPUT = "mid_output"
    LATE_END = "late_end"
    BEFORE_POSITION = "before_position"


@dataclass(frozen=True, kw_only=True)
class Moment:
    """Exactly one of them is set."""

    progress: float | None = None
    written: float | None = None
    seconds: float | None = None
    recovery: bool = False
    start: bool = False

    def __str__(self) -> str:
        if self.progress is not None:
            return f"{self.progress:.0%}"
        if self.written is not None:
            return f"{self.written:.0%} written"
        if self.seconds is not None:
            return f"{self.seconds:g} s"
        return "recovery" if self.recovery else "start"


@dataclass(frozen=True, kw_only=True)
class Step:
    actions: tuple[str, ...]  # the seed chooses one
    target: str
    at: Moment
    aim: Aim | WireAim = Aim.AT_ONCE
    restart_first: bool = False  # the frame aimed at is one of a start
    heal_after_s: float = 0.0
    through_next: bool = False  # healed only when the step after it is over
    parameters: Mapping[str, Any] = field(default_factory=dict)  # of an action that takes some
    frames: WireAim | None = None  # of a fault on the network: only these
    iteration: int | None = None  # None: in each
    settings: Mapping[str, str] = field(default_factory=dict)  # from the next start on

    def belongs_to(self, iteration: int) -> bool:
        return self.iteration in (None, iteration)

    @property
    def hits_brokers(self) -> bool:
        return self.target.startswith(BROKER)

    @property
    def needs_wire(self) -> bool:
        aims_at_frames = isinstance(self.aim, WireAim) or self.aim is Aim.LATE_END
        return aims_at_frames or self._needs(Needs.WIRE)

    @property
    def needs_agent(self) -> bool:
        return self._needs(Needs.AGENT)

    def _needs(self, means: Needs) -> bool:
        return any(ACTIONS[action].needs is means for action in self.actions)

    @property
    def needs_wire_among_controllers(self) -> bool:
        return ISOLATE in self.actions

    @property
    def needs_wire_between_brokers(self) -> bool:
        return isinstance(self.aim, WireAim) and self.hits_brokers


def parse_schedule(entries: Iterable[Mapping[str, Any]]) -> tuple[Step, ...]:
    """All steps in order; an entry whose `at` is a list stands for one step each."""
    return tuple(step for entry in entries for step in _parse(entry))


def _parse(entry: Mapping[str, Any]) -> list[Step]:
    for name in sorted(set(entry) - FIELDS):
        raise unknown_name("key of a fault", name, FIELDS)
    for name in ("action", "target", "at"):
        if name not in entry:
            raise UsageError(f"a fault needs {name!r}; got {dict(entry)}")
    actions = _texts(entry["action"])
    parameters = {name: entry[name] for name in sorted(PARAMETERS & set(entry))}
    for action in actions:
        action_named(action).check(action, parameters)
    aim = _parse_aim(entry)
    target = _parse_target(entry["target"])
    _check_together(actions, target, aim)
    return [
        Step(
            actions=actions,
            target=target,
            at=parse_moment(at),
            aim=aim,
            restart_first=_parse_restart_first(entry, aim),
            heal_after_s=_seconds(entry.get("heal_after_s", 0.0)),
            through_next=_parse_through_next(entry, aim),
            parameters=parameters,
            frames=_parse_frames(entry, actions),
            iteration=_parse_iteration(entry),
            settings=_parse_settings(entry, actions, target),
        )
        for at in _texts(entry["at"])
    ]


def _check_together(actions: tuple[str, ...], target: str, aim: Aim | WireAim) -> None:
    of_instances = (Aim.MID_OUTPUT, Aim.LATE_END, Aim.BEFORE_POSITION)
    if aim in of_instances and not target.startswith(INSTANCE):
        raise UsageError(f"aim '{aim}' is for instances: they write; got target {target!r}")
    for action in actions:
        victims = ACTIONS[action].victims
        if not target.startswith(victims):
            told = f"{victims[:-1]}s" if victims in (BROKER, INSTANCE) else victims
            raise UsageError(f"action {action!r} is for {told}; got target {target!r}")
    if HOLD_OPEN in actions and aim is not Aim.MID_OUTPUT and not _is_written_and_open(aim):
        raise UsageError(
            f"a fault with action {HOLD_OPEN!r} needs the aim '{Aim.MID_OUTPUT}' or"
            ' "Produce response"'
        )
    if DISCONNECT in actions and not isinstance(aim, WireAim):
        raise UsageError('a fault with action "disconnect" needs an aim like "EndTxn request"')


def _is_written_and_open(aim: Aim | WireAim) -> bool:
    """Who waits for the answer to a Produce has written, and cannot end its transaction yet."""
    return isinstance(aim, WireAim) and (aim.api, aim.direction) == ("Produce", "response")


def _parse_through_next(entry: Mapping[str, Any], aim: Aim | WireAim) -> bool:
    given = entry.get("through_next", False)
    if not isinstance(given, bool):
        raise UsageError(f"a fault's `through_next` is true or false; got {given!r}")
    if given and isinstance(aim, WireAim) and aim.release is Release.LATE:
        raise UsageError('a fault\'s `through_next` does not go with `release = "late"`')
    return given


def _parse_frames(entry: Mapping[str, Any], actions: tuple[str, ...]) -> WireAim | None:
    if "frames" not in entry:
        return None
    known = [name for name, action in ACTIONS.items() if action.takes_frames]
    for action in actions:
        if action not in known:
            raise UsageError(
                f"a fault's `frames` are for {', '.join(known)}; got action {action!r}"
            )
    return parse_wire_aim(str(entry["frames"]), {})


def _parse_iteration(entry: Mapping[str, Any]) -> int | None:
    given = entry.get("iteration")
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise UsageError(f"a fault's `iteration` is a number from 1; got {given!r}")
    return given


def _parse_settings(
    entry: Mapping[str, Any], actions: tuple[str, ...], target: str
) -> dict[str, str]:
    given = entry.get("settings", {})
    if not isinstance(given, Mapping) or not all(isinstance(text, str) for text in given.values()):
        raise UsageError(f"a fault's `settings` is a table of texts; got {given!r}")
    known = [name for name, action in ACTIONS.items() if action.starts_anew]
    if given and not (set(actions) <= set(known) and target.startswith(INSTANCE)):
        raise UsageError(
            "a fault's `settings` are for an instance that it starts anew"
            f" ({', '.join(known)}); got {' or '.join(actions)} on {target}"
        )
    return dict(given)


def _parse_restart_first(entry: Mapping[str, Any], aim: Aim | WireAim) -> bool:
    given = entry.get("restart_first", False)
    if not isinstance(given, bool):
        raise UsageError(f"a fault's `restart_first` is true or false; got {given!r}")
    if given and not isinstance(aim, WireAim):
        raise UsageError(
            'a fault\'s `restart_first` is for aims at a frame, like "JoinGroup request"'
        )
    return given


def _parse_aim(entry: Mapping[str, Any]) -> Aim | WireAim:
    text = str(entry.get("aim", Aim.AT_ONCE))
    if " " in text:
        return parse_wire_aim(text, entry)
    if text not in set(Aim):
        raise unknown_name("aim", text, {*Aim, "EndTxn request"})
    if "release" in entry:
        raise UsageError('a fault\'s `release` is for aims at a frame, like "EndTxn request"')
    return Aim(text)


def parse_moment(text: str) -> Moment:
    found = _AT.match(text)
    if found is None:
        raise UsageError(
            'a fault\'s `at` must be "30%", "30% written", "5 s", "start" or "recovery";'
            f" got {text!r}"
        )
    if found["seconds"] is not None:
        return Moment(seconds=float(found["seconds"]))
    if found["word"] is not None:
        return Moment(recovery=found["word"] == "recovery", start=found["word"] == "start")
    share = int(found["percent"]) / 100
    if share <= 1:
        return Moment(written=share) if found["written"] else Moment(progress=share)
    raise UsageError(f"a fault's `at` must be at most 100%; got {text!r}")


def _parse_target(value: object) -> str:
    if not isinstance(value, str):
        raise UsageError(f"a fault has one `target`, a text; got {value!r}")
    if value not in TARGETS and not _NUMBERED.match(value):
        raise unknown_name("target", value, TARGETS)
    return value


def _seconds(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise UsageError(f"a fault's `heal_after_s` must be a number of seconds; got {value!r}")
    return float(value)


def _texts(value: object) -> tuple[str, ...]:
    texts = value if isinstance(value, list | tuple) else [value]
    if not texts:
        raise UsageError("a fault's action, target and at name at least one each; got none")
    for text in texts:
        if not isinstance(text, str):
            raise UsageError(f"a fault's action, target and at are texts; got {text!r}")
    return tuple(texts)
