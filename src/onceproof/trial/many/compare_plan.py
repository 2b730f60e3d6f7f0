"""Which fault meets which mode, and what one cell of a comparison does, as a plan."""

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onceproof.errors import UsageError, unknown_name
from onceproof.history.comparison import SPEED, Mode
from onceproof.suspects.catalog import SUSPECTS
from onceproof.suspects.suspect import PositionHome, Suspect
from onceproof.trial.planning.plan import Plan, plan_scenario
from onceproof.trial.planning.request import SEED_DEFAULT, Request
from onceproof.trial.planning.scenario import make_scenario
from onceproof.trial.planning.settings import takes

MODES = tuple(name for name in SUSPECTS if name.startswith("consumer_"))
MODES_DEFAULT = tuple(name for name in MODES if not name.startswith("consumer_java"))
AT = "30%"
PAUSE_S = 7.0
AWAY_S = 4.0
# Small batches and slow work: there is always a batch under way when something strikes.
COMMON: dict[str, Any] = {
    "expect": "HELD",
    "workload": "copy",
    "records": 600,
    "keys": 20,
    "feed_s": 3.0,
    "transaction_timeout_ms": 10_000,
    "stuck_after_s": 45.0,
    "drain_s": 120.0,
}
SETTINGS = {"batch": "20", "work_ms": "5", "max_poll_interval_ms": "4000", "restore_s": "1.5"}
SETTINGS_OF_TWO = {**SETTINGS, "work_ms": "10"}  # each has half of the records
# No work, and more than the samples of a second: how fast the mode itself is.
AT_FULL_SPEED: dict[str, Any] = {"records": 100_000, "keys": 1_000, "feed_s": 0.0}
SETTINGS_AT_FULL_SPEED = {"batch": "500", "work_ms": "0", "snapshot_every": "1000"}
Schedule = list[dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class ModeFault:
    """`schedule` None for a mode: it cannot be hit so, for the reason told."""

    name: str
    told: str
    schedule: Callable[[Suspect], Schedule | None]
    instances: int = 1
    why_not: str = ""
    scenario: Mapping[str, Any] = field(default_factory=dict)  # instead of what is common
    settings: Mapping[str, str] = field(default_factory=lambda: SETTINGS)


def _nothing(_: Suspect) -> Schedule:
    return []


def _mid_batch(suspect: Suspect) -> Schedule:
    return [{"action": "kill", "target": "instance:0", "at": AT, "aim": _mid_output(suspect)}]


def _mid_output(suspect: Suspect) -> str:
    """What is written into a file of its own is not seen from outside."""
    return "at_once" if suspect.position is PositionHome.SQLITE else "mid_output"


def _torn(suspect: Suspect) -> Schedule | None:
    if suspect.torn_at is None:
        return None
    kill = {"action": "kill", "target": "instance:0", "at": AT, "aim": suspect.torn_at}
    is_frame = " " in suspect.torn_at
    return [{**kill, "release": "drop"} if is_frame else kill]


def _late(suspect: Suspect) -> Schedule | None:
    if not suspect.transactional:
        return None
    kill = {"action": "kill", "target": "instance:0", "at": AT}
    return [{**kill, "aim": "EndTxn request commit", "release": "late"}]


def _rebalance(suspect: Suspect) -> Schedule | None:
    if suspect.instances_max == 1:
        return None
    return [{"action": "restart", "target": "instance:1", "at": AT}]


def _pause(suspect: Suspect) -> Schedule:
    pause = {"action": "pause", "target": "instance:0", "at": AT, "heal_after_s": PAUSE_S}
    return [{**pause, "aim": _mid_output(suspect)}]


def _broker(_: Suspect) -> Schedule:
    return [{"action": "kill", "target": "broker:leader", "at": AT, "heal_after_s": AWAY_S}]


def _network(_: Suspect) -> Schedule:
    return [{"action": "cut", "target": "broker:leader", "at": AT, "heal_after_s": AWAY_S}]


FAULTS = {
    fault.name: fault
    for fault in (
        ModeFault(
            name=SPEED,
            told="nothing happens, and nobody waits: how many records a second",
            schedule=_nothing,
            scenario=AT_FULL_SPEED,
            settings=SETTINGS_AT_FULL_SPEED,
        ),
        ModeFault(name="none", told="nothing happens", schedule=_nothing),
        ModeFault(name="mid_batch", told="SIGKILL in the middle of a batch", schedule=_mid_batch),
        ModeFault(
            name="torn",
            told="SIGKILL between output and commit",
            schedule=_torn,
            why_not="output and position are one transaction of its database",
        ),
        ModeFault(
            name="late_commit",
            told="SIGKILL, and its EndTxn arrives when its successor is there",
            schedule=_late,
            why_not="it writes in no transaction of Kafka's",
        ),
        ModeFault(
            name="rebalance",
            told="another member leaves and comes back",
            schedule=_rebalance,
            instances=2,
            settings=SETTINGS_OF_TWO,
            why_not="it is in no group",
        ),
        ModeFault(
            name="pause",
            told=f"SIGSTOP for {PAUSE_S:.0f} s, beyond max.poll.interval and session timeout",
            schedule=_pause,
            instances=2,
            settings=SETTINGS_OF_TWO,
        ),
        ModeFault(name="broker", told="SIGKILL of the output's leader", schedule=_broker),
        ModeFault(
            name="network",
            told=f"nothing passes to or from the output's leader for {AWAY_S:.0f} s",
            schedule=_network,
        ),
    )
}


@dataclass(frozen=True, kw_only=True)
class CompareRequest:
    """The command line, as given. None: not given."""

    modes: str | None = None
    faults: str | None = None
    seed: int = SEED_DEFAULT
    records: int | None = None
    repeats: int = 1
    brokers: int = 3
    kafka: str | None = None
    settings: tuple[str, ...] = ()  # each goes to the modes that have it


def chosen_modes(request: CompareRequest) -> tuple[Mode, ...]:
    names = _chosen("mode", request.modes, MODES, MODES_DEFAULT)
    for pair in request.settings:
        if not any(_of_mode(name, pair) for name in names):
            known = {setting for name in names for setting in SUSPECTS[name].settings or {}}
            raise unknown_name("key of --set", pair.partition("=")[0], sorted(known))
    return tuple(_mode(name) for name in names)


def _of_mode(mode: str, pair: str) -> bool:
    return takes(SUSPECTS[mode], pair.partition("=")[0])


def chosen_faults(request: CompareRequest) -> tuple[str, ...]:
    return _chosen("fault", request.faults, tuple(FAULTS), tuple(FAULTS))


def _chosen(
    what: str, asked: str | None, known: tuple[str, ...], default: tuple[str, ...]
) -> tuple[str, ...]:
    if asked is None:
        return default
    names = tuple(name.strip() for name in asked.split(",") if name.strip())
    if not names:
        raise UsageError(f"--{what}s names none; known: {', '.join(known)}")
    for name in names:
        if name not in known:
            raise unknown_name(what, name, known)
    return tuple(dict.fromkeys(names))


def _mode(name: str) -> Mode:
    suspect = SUSPECTS[name]
    assert suspect.guarantee is not None
    return Mode(
        name=name,
        claims=suspect.guarantee.value,
        allows=tuple(sorted(suspect.guarantee.allows)),
        is_liar=suspect.is_liar,
    )


def plan_mode(request: CompareRequest, mode: str, fault: str, directory: Path) -> Plan | None:
    """None: that fault cannot meet that mode."""
    suspect, chosen = SUSPECTS[mode], FAULTS[fault]
    schedule = chosen.schedule(suspect)
    if schedule is None:
        return None
    scenario = make_scenario(
        {
            **COMMON,
            **chosen.scenario,
            "name": f"{mode.removeprefix('consumer_')}-{fault}",
            "description": f"one cell of a comparison: {mode}, {chosen.told}",
            "suspect": mode,
            "brokers": request.brokers,
            "instances": min(chosen.instances, suspect.instances_max),
            "faults": tuple(schedule),
            "settings": _settings(suspect, chosen.settings),
        }
    )
    return plan_scenario(
        scenario,
        Request(
            suspect=mode,
            seed=request.seed,
            records=None if "records" in chosen.scenario else request.records,
            kafka=request.kafka,
            settings=tuple(pair for pair in request.settings if _of_mode(mode, pair)),
            runs_dir=directory / "cells",
            repeat=repeat_command(request, mode, fault),
        ),
    )


def _settings(suspect: Suspect, wanted: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in wanted.items() if name in (suspect.settings or {})}


def repeat_command(request: CompareRequest, mode: str, fault: str) -> str:
    words = ["onceproof", "compare", "--modes", mode, "--faults", fault]
    options = {
        "--seed": request.seed,
        "--records": request.records,
        "--repeat": request.repeats,
        "--brokers": request.brokers,
        "--kafka": request.kafka,
    }
    for name, value in options.items():
        words += [] if value is None else [name, str(value)]
    for pair in request.settings:
        words += ["--set", pair]
    return shlex.join(words)
