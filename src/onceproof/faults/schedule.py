"""A schedule as data: which action on which target, at which moment. Parsed from a scenario's TOML.

    { action = "kill", target = "instance:random", at = "30%", aim = "mid_output", heal_after_s = 0
    }

`at`      "30%" (that share of this iteration's input is processed), "5 s" (since its feed began),
or
          "recovery": the victim of the fault before is back and has not caught up yet
          Actions on the network have parameters besides: see network.py; those on methods, too:
          method.py
`aim`     "mid_output": wait, from then on, for a moment in which output is being written;
          "late_end": in which the group does not know the end of the last transaction; or one
          frame of the protocol: see wire_aim.py. With `restart_first` its victim is restarted
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
from onceproof.faults.catalog import TARGETS, check_action, needs_wire
from onceproof.faults.fill_offsets import FILL, PARAMETER, check_fill
from onceproof.faults.method import METHOD_ACTIONS, METHOD_PARAMETERS, check_method_parameters
from onceproof.faults.network import ALL_PARAMETERS, ISOLATE, check_parameters
from onceproof.faults.wire_aim import Release, WireAim, parse_wire_aim

PARAMETERS = ALL_PARAMETERS | METHOD_PARAMETERS | {PARAMETER}
CHECKS = {FILL: check_fill, **dict.fromkeys(METHOD_ACTIONS, check_method_parameters)}
FIELDS = {"action", "target", "at", "aim", "release", "restart_first", "heal_after_s"}
FIELDS |= {"through_next", *PARAMETERS}
DISCONNECT = "disconnect"
VICTIMS_OF = {
    ISOLATE: "broker",
    "usurp": "instance",
    "stray_end": "instance",
    "refused_commit": "instance",
    FILL: "broker",
}
_AT = re.compile(
    r"^(?:(?P<percent>\d{1,3})\s*%|(?P<seconds>\d+(?:\.\d+)?)\s*s|(?P<word>recovery))$"
)
_NUMBERED = re.compile(r"^(instance:\d+|broker:[1-3])$")


class Aim(StrEnum):
    AT_ONCE = "at_once"
    MID_OUTPUT = "mid_output"
    LATE_END = "late_end"


@dataclass(frozen=True, kw_only=True)
class Moment:
    """Exactly one of the three is set."""

    progress: float | None = None
    seconds: float | None = None
    recovery: bool = False

    def __str__(self) -> str:
        if self.progress is not None:
            return f"{self.progress:.0%}"
        return "recovery" if self.recovery else f"{self.seconds:g} s"


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

    @property
    def hits_brokers(self) -> bool:
        return self.target.startswith("broker:")

    @property
    def needs_wire(self) -> bool:
        aims_at_frames = isinstance(self.aim, WireAim) or self.aim is Aim.LATE_END
        return aims_at_frames or any(map(needs_wire, self.actions))

    @property
    def needs_agent(self) -> bool:
        return any(action in METHOD_ACTIONS for action in self.actions)

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
        check_action(action)
        CHECKS.get(action, check_parameters)(action, parameters)
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
        )
        for at in _texts(entry["at"])
    ]


def _check_together(actions: tuple[str, ...], target: str, aim: Aim | WireAim) -> None:
    if aim in (Aim.MID_OUTPUT, Aim.LATE_END) and not target.startswith("instance:"):
        raise UsageError(f"aim '{aim}' is for instances: they write; got target {target!r}")
    for action in actions:
        kind = VICTIMS_OF.get(action)
        if kind is not None and not target.startswith(f"{kind}:"):
            raise UsageError(f"action {action!r} is for {kind}s; got target {target!r}")
    if DISCONNECT in actions and not isinstance(aim, WireAim):
        raise UsageError('a fault with action "disconnect" needs an aim like "EndTxn request"')


def _parse_through_next(entry: Mapping[str, Any], aim: Aim | WireAim) -> bool:
    given = entry.get("through_next", False)
    if not isinstance(given, bool):
        raise UsageError(f"a fault's `through_next` is true or false; got {given!r}")
    if given and isinstance(aim, WireAim) and aim.release is Release.LATE:
        raise UsageError('a fault\'s `through_next` does not go with `release = "late"`')
    return given


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
        raise UsageError(f'a fault\'s `at` must be "30%", "5 s" or "recovery"; got {text!r}')
    if found["percent"] is not None and int(found["percent"]) <= 100:
        return Moment(progress=int(found["percent"]) / 100)
    if found["seconds"] is not None:
        return Moment(seconds=float(found["seconds"]))
    if found["word"] is not None:
        return Moment(recovery=True)
    raise UsageError(f"a fault's `at` must be at most 100%; got {text!r}")


def _parse_target(value: object) -> str:
    (text,) = _texts(value) if not isinstance(value, list) else ("",)
    if text not in TARGETS and not _NUMBERED.match(text):
        raise unknown_name("target", text, TARGETS)
    return text


def _seconds(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise UsageError(f"a fault's `heal_after_s` must be a number of seconds; got {value!r}")
    return float(value)


def _texts(value: object) -> tuple[str, ...]:
    texts = value if isinstance(value, list | tuple) else [value]
    for text in texts:
        if not isinstance(text, str):
            raise UsageError(f"a fault's action, target and at are texts; got {text!r}")
    return tuple(texts)
