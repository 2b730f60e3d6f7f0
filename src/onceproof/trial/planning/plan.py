"""What exactly this run will do: the scenario with the command line on top. Checked before any
start.
"""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import ceil
from pathlib import Path
from typing import Any

from onceproof.cluster.settings import CONTROLLER, INTERNAL
from onceproof.errors import UsageError, unknown_name
from onceproof.faults.program import feed_s_min, parse_program, program_faults
from onceproof.faults.random_schedule import Reach, random_faults
from onceproof.faults.schedule import Step
from onceproof.jars import kafka_versions
from onceproof.jars.local_lock import is_lockable
from onceproof.jars.lock import KAFKA_PREFIX
from onceproof.jars.own import BROKER_LIBRARY, OwnJars, own_jars
from onceproof.suspects.catalog import find_suspect
from onceproof.suspects.streams.properties import CONFIG_FILE, OWN_JARS, VERSION
from onceproof.suspects.suspect import PositionHome, Suspect
from onceproof.trial.planning.scenario import DEFAULT, Scenario, load_scenario, make_scenario
from onceproof.trial.planning.settings import (
    check_settings,
    declared,
    sized,
    sort_settings,
    streams_pairs,
)
from onceproof.versions import by_version
from onceproof.workloads.catalog import workload_named
from onceproof.workloads.input_plan import InputPlan

SEED_DEFAULT = 1
FEED_S_PER_FAULT = 4.0


@dataclass(frozen=True, kw_only=True)
class Request:
    """The command line, as given. None: not given."""

    scenario: str = DEFAULT
    suspect: str | None = None
    command: str | None = None
    workload: str | None = None
    seed: int = SEED_DEFAULT
    records: int | None = None
    iterations: int | None = None
    random_faults: int | None = None  # instead of the scenario's own
    program: str | None = None  # likewise
    kafka: str | None = None
    kafka_jars: Path | None = None  # brokers of the user's own build
    streams: str | None = None  # for a suspect of Kafka Streams
    streams_jars: Path | None = None  # of the user's own build
    streams_config: Path | None = None
    bootstrap_server: str | None = None
    settings: tuple[str, ...] = ()  # key=value
    runs_dir: Path = Path("runs")
    keep_cluster: bool = False
    repeat: str = ""  # the command that asked for this, if it was another than `run`


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
    def needs_wire(self) -> bool:
        return any(step.needs_wire for step in self.schedule)

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
    scenario = _with_program(scenario, request)
    if request.random_faults is not None:
        scenario = _with_random_faults(scenario, suspect, request, request.random_faults)
    if suspect.settings is not None:
        settings = sized(settings, scenario)
    if brokers is None and not is_lockable(KAFKA_PREFIX + scenario.kafka):
        raise unknown_name("Kafka version", scenario.kafka, kafka_versions())
    _check(scenario, suspect, settings)
    schedule = scenario.schedule()
    if request.bootstrap_server is not None:
        _refuse_on_a_foreign_cluster(scenario, schedule, request)
    if request.keep_cluster and scenario.controllers == "apart":
        raise UsageError(
            f"scenario {scenario.name} has its controller apart, which `cluster down` would not"
            " find: leave --keep-cluster out"
        )
    if request.keep_cluster and any(step.needs_wire for step in schedule):
        raise UsageError(
            f"scenario {scenario.name} needs the proxy, which ends with the run; a cluster that is"
            " kept would lead nowhere: leave --keep-cluster out"
        )
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


def _check(scenario: Scenario, suspect: Suspect, settings: Mapping[str, str]) -> None:
    """That these go together."""
    workload = workload_named(scenario.workload)
    if workload.name not in suspect.workloads:
        raise unknown_name(f"workload of {suspect.name}", workload.name, suspect.workloads)
    if scenario.instances > suspect.instances_max:
        raise UsageError(
            f"{suspect.name} runs as at most {suspect.instances_max} instance(s);"
            f" got {scenario.instances}"
        )
    if scenario.records < scenario.records_min:
        raise UsageError(
            f"scenario {scenario.name} needs at least {scenario.records_min} records to find out"
            f" anything; got {scenario.records}"
        )
    if scenario.iterations > scenario.records:
        raise UsageError(
            f"{scenario.iterations} iterations need at least as many records;"
            f" got {scenario.records}"
        )
    if scenario.producer_byte_rate is not None and not suspect.producer_clients:
        raise UsageError(
            f"a quota is set on client ids, and those of {suspect.name}'s producers are not known"
        )
    if by_version(scenario.kafka) < by_version("4") and any(
        step.needs_wire_among_controllers for step in scenario.schedule()
    ):
        raise UsageError(
            f"controllers of Kafka {scenario.kafka} cannot be told other addresses than their own:"
            " `isolate` needs 4.0 or later"
        )
    if scenario.controllers == "apart" and any(
        step.needs_wire_among_controllers for step in scenario.schedule()
    ):
        raise UsageError(
            "`isolate` is for brokers that are controllers, too; got controllers apart"
        )
    check_settings(suspect, settings, scenario.workload)


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


def _with_program(scenario: Scenario, request: Request) -> Scenario:
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


def _with_random_faults(
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


def _refuse_on_a_foreign_cluster(
    scenario: Scenario, schedule: tuple[Step, ...], request: Request
) -> None:
    if any(step.hits_brokers for step in schedule):
        raise UsageError(
            f"scenario {scenario.name} injects faults into brokers; {request.bootstrap_server} is a"
            " cluster that runs already, and its processes are not ours to touch."
            " Run a scenario without broker faults (tc01_normal, tc02_crash_loop), or leave"
            " --bootstrap-server out"
        )
    if any(step.needs_wire for step in schedule):
        raise UsageError(
            f"scenario {scenario.name} has faults on the network; the addresses of"
            f" {request.bootstrap_server} do not lead through our proxy"
        )
    own_brokers = request.kafka or request.kafka_jars
    if own_brokers or scenario.broker_properties or scenario.producer_byte_rate:
        raise UsageError(
            "--kafka, --kafka-jars, broker properties and quotas are for clusters that"
            " onceproof starts"
        )
    if request.keep_cluster:
        raise UsageError("--keep-cluster is for clusters that onceproof starts")


def repeat_command(request: Request) -> str:
    """The command line that asks for the same again."""
    words = ["onceproof", "run", request.scenario]
    options = {
        "--suspect": None if request.command else request.suspect,
        "--command": request.command,
        "--workload": request.workload,
        "--seed": request.seed,
        "--records": request.records,
        "--iterations": request.iterations,
        "--random-faults": request.random_faults,
        "--program": request.program,
        "--kafka": request.kafka,
        "--kafka-jars": request.kafka_jars,
        "--streams": request.streams,
        "--streams-jars": request.streams_jars,
        "--streams-config": request.streams_config,
        "--bootstrap-server": request.bootstrap_server,
    }
    for name, value in options.items():
        words += [] if value is None else [name, str(value)]
    for pair in request.settings:
        words += ["--set", pair]
    return shlex.join(words)
