"""A schedule drawn by a seed, as a scenario's file would write it. Pure: the same for the same
seed.

    kind        what is drawn                                     where
    instance    kill, pause, stop, restart; at once, mid_output   everywhere
    frame       kill or pause, with a frame of the instance held  where there is a proxy
    broker      kill, pause, stop, restart; one, or a role        brokers of ours
    network     slow, cut                                         where there is a proxy

Faults are at rising shares of the input; some strike while the instance hit before recovers.
`refuse` is not drawn: a client that keeps its connections never meets it.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from onceproof.errors import UsageError
from onceproof.faults.crash_point import BEYOND_TIMEOUT_S, SIDES
from onceproof.faults.wire_aim import Release

FAULTS_MAX = 20
# Percent of the input: later, and the suspect may be done before a fault finds it at work.
PERCENT = range(5, 75, 5)
RECOVERY_SHARE = 0.25
# A broker that is gone for longer than its session loses its leaderships.
BROKER_AWAY_S = (2.0, 5.0)
INSTANCE_AWAY_S = (1.0, 3.0)
ROLES = ("leader", "controller", "group_coordinator")
Fault = dict[str, Any]
Kind = Callable[[random.Random, "Reach"], Fault]


@dataclass(frozen=True, kw_only=True)
class Reach:
    """What may be hit in a run, and how."""

    instances: int
    brokers: int  # 0: none of them is ours
    transaction_timeout_s: float
    network: bool = False  # whether there is a proxy
    frames: tuple[str, ...] = ()  # apis that the suspect is sure to use, where there is a proxy


def random_faults(seed: int, count: int, reach: Reach) -> list[Fault]:
    """So many entries of a scenario's `faults`."""
    if not 1 <= count <= FAULTS_MAX:
        raise UsageError(f"--random-faults takes a number from 1 to {FAULTS_MAX}; got {count}")
    die = random.Random(f"schedule {seed}")  # a text: not the numbers that the trial draws itself
    moments = sorted(die.choice(PERCENT) for _ in range(count))
    faults: list[Fault] = []
    for place, percent in enumerate(moments):
        at = f"{percent}%"
        if faults and _is_instance(faults[-1]):
            is_chosen = die.random() < RECOVERY_SHARE
            # At the same moment again, the instance would be hit while it is only being started.
            at = "recovery" if is_chosen or percent == moments[place - 1] else at
        draw = die.choice(_kinds(reach))
        faults.append({"at": at, **draw(die, reach)})
    return faults


def _is_instance(fault: Fault) -> bool:
    return str(fault["target"]).startswith("instance:")


def _kinds(reach: Reach) -> list[Kind]:
    """Each as likely as it is listed: what most bugs need is an instance that goes away."""
    kinds: list[Kind] = [_on_instance, _on_instance]
    kinds += [_on_frame] if reach.frames else []
    kinds += [_on_broker] if reach.brokers else []
    kinds += [_on_network] if reach.network else []
    return kinds


def _on_instance(die: random.Random, reach: Reach) -> Fault:
    action = die.choice(("kill", "kill", "pause", "stop", "restart"))
    return {
        "action": action,
        "target": _an_instance(die, reach),
        "aim": die.choice(("at_once", "mid_output")),
        **_away(die, action, INSTANCE_AWAY_S, reach.transaction_timeout_s),
    }


def _on_frame(die: random.Random, reach: Reach) -> Fault:
    side = die.choice(SIDES)
    action = die.choice(("kill", "pause"))
    # A response that comes late comes to nobody; what a paused instance sent is not lost with it.
    releases = {
        ("kill", "request"): (Release.DROP, Release.PASS, Release.LATE),
        ("kill", "response"): (Release.DROP,),
    }.get((action, side), (Release.PASS,))
    return {
        "action": action,
        "target": _an_instance(die, reach),
        "aim": f"{die.choice(reach.frames)} {side}",
        "release": str(die.choice(releases)),
        **_away(die, action, INSTANCE_AWAY_S, reach.transaction_timeout_s),
    }


def _on_broker(die: random.Random, reach: Reach) -> Fault:
    action = die.choice(("kill", "pause", "stop", "restart"))
    target = _a_broker(die, reach)
    return {"action": action, "target": target, **_away(die, action, BROKER_AWAY_S)}


def _on_network(die: random.Random, reach: Reach) -> Fault:
    action = die.choice(("slow", "cut"))
    given = {"delay_s": 0.1, "loss_percent": 5} if action == "slow" else {}
    target = die.choice((_an_instance, _a_broker))(die, reach)
    return {"action": action, "target": target, **given, **_away(die, action, BROKER_AWAY_S)}


def _an_instance(die: random.Random, reach: Reach) -> str:
    return f"instance:{die.choice(('random', *range(reach.instances)))}"


def _a_broker(die: random.Random, reach: Reach) -> str:
    return f"broker:{die.choice(('random', *ROLES, *range(1, reach.brokers + 1)))}"


def _away(
    die: random.Random,
    action: str,
    seconds: tuple[float, ...],
    transaction_timeout_s: float | None = None,
) -> Fault:
    """A pause may last longer than a transaction does: its writer comes back as a zombie."""
    if action == "restart":
        return {}
    if action == "pause" and transaction_timeout_s is not None:
        seconds = (*seconds, transaction_timeout_s + BEYOND_TIMEOUT_S)
    return {"heal_after_s": die.choice(seconds)}
