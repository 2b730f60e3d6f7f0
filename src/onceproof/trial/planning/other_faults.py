"""A schedule instead of the scenario's own: a program, or faults drawn by the seed."""

from math import ceil
from typing import Any

from onceproof.errors import UsageError
from onceproof.faults.program import feed_s_min, parse_program, program_faults
from onceproof.faults.random_schedule import Reach, random_faults
from onceproof.suspects.suspect import PositionHome, Suspect
from onceproof.trial.planning.request import Request
from onceproof.trial.planning.scenario import Scenario, make_scenario

FEED_S_PER_FAULT = 4.0


def with_program(scenario: Scenario, request: Request) -> Scenario:
    """The program as faults, and input that goes on until it ends."""
    text = request.program if request.program is not None else scenario.program
    if text is None:
        return scenario
    if request.program is not None and request.random_faults is not None:
        raise UsageError("--program is a schedule, and so is --random-faults: leave one out")
    if (request.iterations or 1) > 1:
        raise UsageError("a program goes on from step to step, once: leave --iterations out")
    program = parse_program(text, request.seed)
    feed_s = feed_s_min(program, scenario.program_every)
    changed: dict[str, Any] = {"feed_s": max(scenario.feed_s, feed_s)}
    if scenario.records_per_second is not None:
        records = ceil(feed_s * scenario.records_per_second)
        changed = {"records": max(scenario.records, records)}
    return make_scenario(
        {
            **scenario.model_dump(),
            **changed,
            "faults": program_faults(program, scenario.program_every),
            "held_back_percent": 0,  # its steps may go on until the end of the input
            "iterations": 1,  # a second one would toggle those that run: nobody would be left
            "shares": (),
            "program": None,
            "instances": max(program),
            "first_instance": 1,
            "running": 0,
        }
    )


def with_random_faults(
    scenario: Scenario, suspect: Suspect, request: Request, count: int
) -> Scenario:
    """The seed's faults instead of the scenario's own, and time enough for each to find work."""
    faults = random_faults(request.seed, count, _reach(scenario, suspect, request))
    changed: dict[str, Any] = {"faults": faults, "seen": ()}  # what its own faults would show
    if scenario.records_per_second is None:
        changed["feed_s"] = max(scenario.feed_s, FEED_S_PER_FAULT * count)
    return make_scenario({**scenario.model_dump(), **changed})


def _reach(scenario: Scenario, suspect: Suspect, request: Request) -> Reach:
    """Frames are those that the suspect is sure to send: an aim at another hits nothing."""
    ours = request.bootstrap_server is None
    has_wire = ours and not request.keep_cluster
    frames = ["Fetch", *([] if suspect.position.is_table else ["Produce"])]
    frames += ["EndTxn"] if suspect.transactional else []
    if suspect.position is PositionHome.GROUP and suspect.transactional is not None:
        frames.append("TxnOffsetCommit" if suspect.transactional else "OffsetCommit")
    return Reach(
        instances=scenario.instances,
        brokers=scenario.brokers if ours else 0,
        transaction_timeout_s=scenario.transaction_timeout_ms / 1000,
        network=has_wire,
        frames=tuple(frames) if has_wire else (),
    )
