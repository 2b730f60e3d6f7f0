"""What exactly this run will do: the scenario with the command line on top. Checked before any
start.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from onceproof.cluster.settings import CONTROLLER, INTERNAL
from onceproof.errors import UsageError, unknown_name
from onceproof.faults.schedule import Step
from onceproof.jars import kafka_versions
from onceproof.jars.local_lock import is_lockable
from onceproof.jars.lock import KAFKA_PREFIX
from onceproof.jars.own import BROKER_LIBRARY, OwnJars, own_jars
from onceproof.suspects.catalog import find_suspect
from onceproof.suspects.streams.properties import CONFIG_FILE, OWN_JARS, VERSION
from onceproof.suspects.suspect import Suspect
from onceproof.trial.planning.other_faults import with_program, with_random_faults
from onceproof.trial.planning.request import Request, repeat_command
from onceproof.trial.planning.scenario import Scenario, load_scenario, make_scenario
from onceproof.trial.planning.settings import (
    check_settings,
    declared,
    sized,
    sort_settings,
    streams_pairs,
)
from onceproof.trial.planning.together import check_cluster, check_together
from onceproof.workloads.input_plan import InputPlan


@dataclass(frozen=True, kw_only=True)
class Plan:
    scenario: Scenario
    suspect: Suspect
    schedule: tuple[Step, ...]
    input: InputPlan
    seed: int
    settings: Mapping[str, str]  # of the suspect
    kafka_jars: OwnJars | None = None  # brokers of the user's own build
    bootstrap_server: str | None
    runs_dir: Path
    keep_cluster: bool
    repeat: str

    @property
    def instance_numbers(self) -> range:
        first = self.scenario.first_instance
        return range(first, first + self.scenario.instances)

    @property
    def listeners_behind_proxy(self) -> set[str]:
        """Besides the suspects' own."""
        between = any(step.needs_wire_between_brokers for step in self.schedule)
        among = any(step.needs_wire_among_controllers for step in self.schedule)
        return {
            *([INTERNAL] if between or self.scenario.wire_between_brokers else []),
            *([CONTROLLER] if among else []),
        }

    @property
    def faults_scheduled(self) -> int:
        iterations = range(1, self.scenario.iterations + 1)
        return sum(step.belongs_to(number) for number in iterations for step in self.schedule)

    def slices(self) -> list[tuple[int, int]]:
        """The input cut into iterations: [from, to) each."""
        shares = self.scenario.shares or (1,) * self.scenario.iterations
        cuts = [0, *accumulate(shares)]
        return list(pairwise(self.input.records * cut // cuts[-1] for cut in cuts))


def make_plan(request: Request) -> Plan:
    return plan_scenario(load_scenario(request.scenario), request)


def plan_scenario(scenario: Scenario, request: Request) -> Plan:
    """`request` on top of a scenario that is at hand; its own name for one is not looked at."""
    name = request.suspect or ("command" if request.command else scenario.suspect)
    suspect = find_suspect(name, request.command)
    pairs = (*request.settings, *streams_pairs(_streams_options(request), suspect))
    changed, settings = sort_settings(pairs, scenario, suspect)
    suspect = declared(suspect, settings)
    brokers = _own_brokers(request)
    changed = {**_overrides(request, scenario, suspect), **changed}
    if brokers is not None:
        changed["kafka"] = brokers.version
    scenario = make_scenario({**scenario.model_dump(), **changed})
    scenario = with_program(scenario, request)
    if request.random_faults is not None:
        scenario = with_random_faults(scenario, suspect, request, request.random_faults)
    if suspect.settings is not None:
        settings = sized(settings, scenario)
    if brokers is None and not is_lockable(KAFKA_PREFIX + scenario.kafka):
        raise unknown_name("Kafka version", scenario.kafka, kafka_versions())
    schedule = scenario.schedule()
    check_together(scenario, schedule, suspect)
    check_settings(suspect, settings, scenario.workload)
    check_cluster(scenario, schedule, request)
    return Plan(
        scenario=scenario,
        suspect=suspect,
        schedule=schedule,
        input=InputPlan.of(seed=request.seed, records=scenario.records, keys=scenario.keys),
        seed=request.seed,
        settings=settings,
        kafka_jars=brokers,
        bootstrap_server=request.bootstrap_server,
        runs_dir=request.runs_dir,
        keep_cluster=request.keep_cluster,
        repeat=request.repeat or repeat_command(request),
    )


def _overrides(request: Request, scenario: Scenario, suspect: Suspect) -> dict[str, Any]:
    """`copy` is what an unknown program is expected to do, unless the user says otherwise.

    More iterations get more records, so that there is enough in each for its faults to hit.
    """
    iterations = request.iterations or scenario.iterations
    enough = iterations * (scenario.records // scenario.iterations)
    given = {
        "workload": request.workload or ("copy" if suspect.name == "command" else None),
        "records": max(scenario.records, enough) if request.records is None else request.records,
        "iterations": request.iterations,
        "kafka": request.kafka,
    }
    changed: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if scenario.feed_s and suspect.name != scenario.suspect:
        changed["feed_s"] = scenario.feed_s + _away_s(scenario, suspect)
    return {**changed, "suspect": suspect.name}


def _away_s(scenario: Scenario, suspect: Suspect) -> float:
    """How long the faults of one iteration, timed for another, keep this suspect from its work."""
    if not suspect.back_s:
        return 0.0
    steps = scenario.schedule()
    deaths = sum(1 for step in steps if not step.hits_brokers)
    return deaths * suspect.back_s + sum(step.heal_after_s for step in steps)


def _streams_options(request: Request) -> dict[str, str | None]:
    """By the settings they are short for."""
    if request.streams is not None and request.streams_jars is not None:
        raise UsageError("--streams-jars is a version of its own: leave --streams out")
    paths = {OWN_JARS: request.streams_jars, CONFIG_FILE: request.streams_config}
    absolute = {
        name: None if path is None else str(path.absolute()) for name, path in paths.items()
    }
    return {VERSION: request.streams, **absolute}


def _own_brokers(request: Request) -> OwnJars | None:
    if request.kafka_jars is None:
        return None
    if request.kafka is not None:
        raise UsageError("--kafka-jars is a version of its own: leave --kafka out")
    return own_jars(request.kafka_jars.absolute(), BROKER_LIBRARY, "--kafka-jars")
