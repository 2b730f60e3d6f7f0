"""What one cell of a sweep does, as a plan: few records, short timeouts, one fault."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onceproof.faults.crash_point import Act, CrashPoint
from onceproof.suspects.catalog import find_suspect
from onceproof.suspects.suspect import Suspect
from onceproof.trial.planning.plan import Plan, plan_scenario
from onceproof.trial.planning.request import SEED_DEFAULT, Request
from onceproof.trial.planning.scenario import make_scenario

# A frame that brokers send each other is aimed at in some cells, and one cluster serves them all.
COMMON: dict[str, Any] = {
    "expect": "HELD",
    "wire_between_brokers": True,
    "keys": 20,
    "stuck_after_s": 45.0,
    "drain_s": 120.0,
}
OF_SPARK: dict[str, Any] = {"records": 600, "feed_s": 3.0, "transaction_timeout_ms": 6_000}
OF_OTHERS: dict[str, Any] = {"records": 600, "feed_s": 3.0, "transaction_timeout_ms": 3_000}
# How long others take to start is theirs: the input must not be over by then.
SLOW_STARTERS = (
    "command",
    "consumer_java",
    "streams_exactly_once",
    "streams_at_least_once",
    "streams_java",
)
OF_SLOW_STARTERS: dict[str, Any] = {**OF_OTHERS, "feed_s": 10.0}
# Small batches: there are many transactions, and work is left when one of them is hit.
BATCHES = {"batch": "20", "max_offsets_per_trigger": "100"}
BROKERS_SESSION_S = 10.0  # of groups with the new protocol: cluster/settings.py
RESTART = {"action": "restart", "target": "instance:0", "at": "40%"}


@dataclass(frozen=True, kw_only=True)
class SweepRequest:
    """The command line, as given. None: not given."""

    suspect: str | None = None
    command: str | None = None
    workload: str | None = None
    only: str | None = None
    seed: int = SEED_DEFAULT
    records: int | None = None
    kafka: str | None = None
    settings: tuple[str, ...] = ()


def plan_survey(request: SweepRequest, directory: Path) -> Plan:
    """No fault but a clean restart, so that what is sent at a start is seen, too."""
    return _plan(request, directory, name="survey", faults=(RESTART,), instances=1)


def plan_cell(request: SweepRequest, point: CrashPoint, directory: Path) -> Plan:
    suspect = _suspect(request)
    without = _plan(request, directory, name=point.name, faults=(), instances=1)
    timeout_s = without.scenario.transaction_timeout_ms / 1000
    if without.settings.get("group_protocol") == "consumer":
        timeout_s = max(timeout_s, BROKERS_SESSION_S)
    # One that stands still is the more dangerous if another takes over meanwhile.
    has_rival = point.act is Act.PAUSE and suspect.instances_max > 1
    return _plan(
        request,
        directory,
        name=point.name,
        faults=(point.fault(timeout_s),),
        instances=2 if has_rival and not point.frame.between_brokers else 1,
    )


def _plan(
    request: SweepRequest,
    directory: Path,
    *,
    name: str,
    faults: tuple[dict[str, Any], ...],
    instances: int,
) -> Plan:
    suspect = _suspect(request)
    workload = request.workload or ("fold" if "fold" in suspect.workloads else "copy")
    scenario = make_scenario(
        {
            **COMMON,
            **_defaults(suspect),
            "name": name,
            "description": f"one cell of a sweep: {name}",
            "suspect": suspect.name,
            "workload": "copy" if suspect.name == "command" else workload,
            "instances": instances,
            "faults": faults,
            "settings": {
                name: value for name, value in BATCHES.items() if name in (suspect.settings or {})
            },
        }
    )
    return plan_scenario(
        scenario,
        Request(
            suspect=None if request.command else suspect.name,
            command=request.command,
            workload=request.workload,
            seed=request.seed,
            records=request.records,
            kafka=request.kafka,
            settings=request.settings,
            runs_dir=directory / "cells",
            repeat=repeat_command(request, only=None if name == "survey" else name),
        ),
    )


def suspect_name(request: SweepRequest) -> str:
    return request.suspect or ("command" if request.command else "spark_exactly_once")


def _suspect(request: SweepRequest) -> Suspect:
    return find_suspect(suspect_name(request), request.command)


def _defaults(suspect: Suspect) -> dict[str, Any]:
    if suspect.spark:
        return OF_SPARK
    return OF_SLOW_STARTERS if suspect.name in SLOW_STARTERS else OF_OTHERS


def repeat_command(request: SweepRequest, only: str | None) -> str:
    words = ["onceproof", "sweep"]
    options = {
        "--suspect": request.suspect,
        "--command": request.command,
        "--workload": request.workload,
        "--only": only,
        "--seed": request.seed,
        "--records": request.records,
        "--kafka": request.kafka,
    }
    for name, value in options.items():
        words += [] if value is None else [name, str(value)]
    for pair in request.settings:
        words += ["--set", pair]
    return shlex.join(words)
