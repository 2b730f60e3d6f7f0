"""What to shrink: the schedule of a run that broke, as it was carried out. Pure."""

import re
from collections.abc import Sequence
from typing import Any

from onceproof.faults.program import running_after
from onceproof.faults.toggle import TOGGLE
from onceproof.history.fault_record import FaultRecord
from onceproof.trial.many.broken_run import BrokenRun
from onceproof.trial.planning.scenario import Scenario, make_scenario
from onceproof.workloads.input_plan import keys_for

SUFFIX = "-shrunk"
NAME_CHARS_MAX = 80
_NUMBERED = re.compile(r"^(instance|broker) (\d+)")

Fault = dict[str, Any]


def bases(run: BrokenRun) -> list[Scenario]:
    """What to shrink, the cheapest first: one iteration as the last one was, then the whole loop.

    In one iteration every choice the seed made is written out. Otherwise a fault less would mean
    other victims for all that come after it. A loop whose iterations differ is shrunk as a whole.
    """
    scenario = run.scenario
    name = scenario.name.removesuffix(SUFFIX)[: NAME_CHARS_MAX - len(SUFFIX)] + SUFFIX
    faults = _one_moment_each(scenario.faults)
    whole = {**scenario.model_dump(), "name": name, "faults": faults, "expect": "BROKEN"}
    whole["expect_anomalies"] = ()
    if scenario.shares or any("iteration" in fault for fault in faults):
        return [make_scenario(whole)]
    records = max(1, scenario.records // scenario.iterations)
    one = {
        "iterations": 1,
        "records": records,
        "keys": min(records, scenario.keys or keys_for(scenario.records)),
        "faults": _as_carried_out(faults, run.records),
    }
    found = [make_scenario({**whole, **one})]
    return found if scenario.iterations == 1 else [*found, make_scenario(whole)]


def _one_moment_each(faults: Sequence[Fault]) -> list[Fault]:
    return [
        {**fault, "at": at}
        for fault in faults
        for at in ([fault["at"]] if isinstance(fault["at"], str) else fault["at"])
    ]


def _as_carried_out(faults: Sequence[Fault], records: Sequence[FaultRecord]) -> list[Fault]:
    """A record each, in order; a run that ended early has fewer, and leaves the rest open."""
    known = [*records, *[None] * len(faults)]
    return [
        fault if record is None else _chosen(fault, record)
        for fault, record in zip(faults, known, strict=False)
    ]


def _chosen(fault: Fault, record: FaultRecord) -> Fault:
    chosen = dict(fault)
    if record.action in fault["action"]:
        chosen["action"] = record.action
    numbered = _NUMBERED.match(record.target)
    if numbered is not None and fault["target"] == f"{numbered[1]}:random":
        chosen["target"] = f"{numbered[1]}:{numbered[2]}"
    return chosen


def has_workers(scenario: Scenario) -> bool:
    """Of a program too little may be left: with nobody at work there is nothing to be seen."""
    toggled = (fault for fault in scenario.faults if fault["action"] == TOGGLE)
    numbers = tuple(int(str(fault["target"]).rpartition(":")[2]) for fault in toggled)
    return scenario.running != 0 or bool(running_after(numbers))
