"""Faults of the network between a victim and the rest, carried out by the wire's proxy.

slow     frames are late, and now and then lost, which TCP shows as a stall
narrow   all frames share a line of so many bytes a second
cut      nothing passes; connections stay, as if the cable were out
refuse   no new connection is made; those that are there stay
isolate  nothing passes between a broker and the controllers; clients still reach it

A fault that no frame has met did not apply: that is known when it is healed.
"""

import itertools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from onceproof.errors import FaultError, OnceproofError, UsageError, unknown_name
from onceproof.faults.victim import Victim
from onceproof.faults.wire_aim import WireAim
from onceproof.wire.control import Wire

if TYPE_CHECKING:
    from onceproof.cluster.broker import Broker

Parameters = Mapping[str, float]
RulesOf = Callable[[Parameters], list[dict[str, Any]]]
_numbers = itertools.count(1)


class NetworkFault:
    def __init__(
        self,
        victim: Victim,
        wire: Wire,
        action: str,
        parameters: Parameters,
        frames: WireAim | None = None,
    ) -> None:
        """`frames`: only these of the victim's; None: all."""
        self._victim = victim
        self._wire = wire
        self._action = action
        self._told = _in_words(action, parameters) + (f": {frames}" if frames else "")
        number = next(_numbers)
        self._rules = [
            {**rule, "name": f"{action}-{number}-{place}-{direction}", "match": match}
            for place, rule in enumerate(RULES[action](parameters))
            for direction, match in _matches(action, victim, frames)
        ]
        self._is_healed = False
        self._frames = 0

    def inject(self) -> str:
        added = []
        try:
            for rule in self._rules:
                self._wire.add(rule)
                added.append(rule["name"])
        except OnceproofError:
            for name in added:
                self._wire.remove(name)
            raise
        among = " to the controllers" if self._action == ISOLATE else ""
        return f"{self._told}, on every connection of {self._victim.name}{among}"

    def has_met(self) -> bool:
        """While it is in force: whether any frame has been hit."""
        return any(self._wire.counts(rule["name"])["applied"] for rule in self._rules)

    def heal(self) -> None:
        counts = [self._wire.remove(rule["name"]) for rule in self._rules]
        self._frames = sum(each["applied"] for each in counts)
        self._is_healed = True

    def is_healed(self) -> bool:
        return self._is_healed

    def outcome(self) -> str:
        """After healing. FaultError: it met nothing, and so did not apply."""
        if self._frames == 0:
            raise FaultError(f"no frame of {self._victim.name} came by: nothing was hit")
        return f"{self._frames} frames were hit"


def _slow(parameters: Parameters) -> list[dict[str, Any]]:
    rules: list[dict[str, Any]] = []
    if parameters.get("delay_s"):
        rules.append({"rule": "delay", "seconds": parameters["delay_s"]})
    if parameters.get("loss_percent"):
        rules.append({"rule": "loss", "percent": parameters["loss_percent"]})
    return rules


def _narrow(parameters: Parameters) -> list[dict[str, Any]]:
    return [{"rule": "bandwidth", "bytes_per_s": parameters["bytes_per_s"]}]


ISOLATE = "isolate"
_WITHOUT_NUMBERS = {
    "cut": "nothing passes",
    ISOLATE: "nothing passes",
    "refuse": "no new connections",
}
RULES: dict[str, RulesOf] = {
    "slow": _slow,
    "narrow": _narrow,
    "cut": lambda _: [{"rule": "partition"}],
    ISOLATE: lambda _: [{"rule": "partition"}],
    "refuse": lambda _: [{"rule": "refuse"}],
}
# What each may be given, and of which it needs at least one.
PARAMETERS: dict[str, tuple[str, ...]] = {
    "slow": ("delay_s", "loss_percent"),
    "narrow": ("bytes_per_s",),
    "cut": (),
    ISOLATE: (),
    "refuse": (),
}
ALL_PARAMETERS = {name for names in PARAMETERS.values() for name in names}


def check_parameters(action: str, given: Parameters) -> None:
    """Of any action: those of processes take none."""
    known = PARAMETERS.get(action, ())
    for name, value in given.items():
        if name not in known:
            raise unknown_name(f"parameter of {action}", name, known)
        if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
            raise UsageError(f"a fault's `{name}` must be a number above 0; got {value!r}")
    if known and not given:
        raise UsageError(f"a fault with action {action!r} needs {' or '.join(known)}")


def _matches(action: str, victim: Victim, only: WireAim | None) -> list[tuple[str, dict[str, Any]]]:
    """Both ways, by names that tell them apart; or the one of the frames that are meant."""
    if only is not None:
        return [(only.direction, {**victim.on_the_wire(), **only.match()})]
    frames = {"": victim.on_the_wire()}
    if action == ISOLATE:
        broker = cast("Broker", victim)  # the schedule allows no other target
        frames = {"to-": broker.to_controllers(), "from-": broker.from_controllers()}
    return [
        (f"{whose}{direction}", {**match, "direction": direction})
        for whose, match in frames.items()
        for direction in ("request", "response")
    ]


def _in_words(action: str, parameters: Parameters) -> str:
    words = {
        "delay_s": "{:g} s late",
        "loss_percent": "{:g} % lost",
        "bytes_per_s": "{:g} bytes a second",
    }
    given = [words[name].format(value) for name, value in parameters.items()]
    return " and ".join(given) or _WITHOUT_NUMBERS[action]
