"""The versions a scenario goes along, and what is expected of each. Pure.

axis = "kafka"     the brokers
       "clients"   kafka-clients of a suspect in Java
       "streams"   Kafka Streams
"""

from dataclasses import dataclass, replace
from pathlib import Path

from onceproof.errors import UsageError
from onceproof.history.verdict import Verdict
from onceproof.suspects.streams.own_jars import own_streams
from onceproof.trial.planning.plan import Plan, make_plan
from onceproof.trial.planning.request import Request
from onceproof.trial.planning.scenario import (
    VARIANT_SIGN,
    Scenario,
    load_scenario,
    scenario_names,
    variant_names,
)
from onceproof.trial.planning.variants import EXPOSURE
from onceproof.versions import by_version

ALL = "all"
BROKERS = "kafka"
STREAMS = "streams"
REPEATS_MAX = 100
OWN_RUNS = "own-jars"


@dataclass(frozen=True, kw_only=True)
class MatrixRequest:
    """The command line, as given. None: not given."""

    scenario: str
    versions: str | None = None  # "3.8.0,3.9.1"
    repeats: int = 1
    seed: int = 1
    suspect: str | None = None  # another than the scenario's
    records: int | None = None
    settings: tuple[str, ...] = ()
    exposure: bool = False  # the variant of that name, of each scenario
    kafka_jars: Path | None = None  # a build of the user's own: one more row
    streams_jars: Path | None = None  # likewise
    streams_config: Path | None = None


@dataclass(frozen=True, kw_only=True)
class VersionPlan:
    version: str
    expected: Verdict | None
    plan: Plan


@dataclass(frozen=True, kw_only=True)
class AxisPlan:
    """A scenario along its axis, oldest version first; everything is checked."""

    scenario: Scenario
    axis: str
    versions: tuple[VersionPlan, ...]


def plan_axes(request: MatrixRequest, directory: Path) -> list[AxisPlan]:
    """One for each scenario that is asked for; runs go below `directory`."""
    if not 1 <= request.repeats <= REPEATS_MAX:
        raise UsageError(f"--repeat takes a number from 1 to {REPEATS_MAX}; got {request.repeats}")
    if request.scenario != ALL:
        name = request.scenario + (VARIANT_SIGN + EXPOSURE if request.exposure else "")
        return [plan_axis(replace(request, scenario=name), load_scenario(name), directory)]
    if request.versions is not None:
        raise UsageError("--versions goes with one scenario: each has an axis of its own")
    if request.suspect is not None:
        raise UsageError("--suspect goes with one scenario: each has a suspect of its own")
    axes = [
        (name, scenario)
        for name in _names(request)
        if (scenario := load_scenario(name)).axis is not None
    ]
    return [
        plan_axis(_fitting(replace(request, scenario=name), scenario), scenario, directory)
        for name, scenario in axes
    ]


def _names(request: MatrixRequest) -> list[str]:
    if not request.exposure:
        return scenario_names()
    exposed = (name for name in scenario_names() if EXPOSURE in variant_names(name))
    return [name + VARIANT_SIGN + EXPOSURE for name in exposed]


def _fitting(request: MatrixRequest, scenario: Scenario) -> MatrixRequest:
    """Of all scenarios, a build of the user's is for those that go along its part."""
    of_streams, of_brokers = scenario.axis == STREAMS, scenario.axis == BROKERS
    return replace(
        request,
        kafka_jars=request.kafka_jars if of_brokers else None,
        streams_jars=request.streams_jars if of_streams else None,
        streams_config=request.streams_config if of_streams else None,
    )


def plan_axis(request: MatrixRequest, scenario: Scenario, directory: Path) -> AxisPlan:
    if scenario.axis is None:
        known = [name for name in scenario_names() if load_scenario(name).axis is not None]
        raise UsageError(
            f"scenario {scenario.name} names no axis to go along; those that do: {', '.join(known)}"
        )
    plans = [
        VersionPlan(
            version=version,
            expected=expected_on(scenario, version),
            plan=make_plan(_request(request, scenario, version, directory)),
        )
        for version in _versions(request, scenario)
    ]
    plans += _own_build(request, scenario, directory)
    in_order = sorted(plans, key=lambda at: by_version(at.version))
    return AxisPlan(scenario=scenario, axis=scenario.axis, versions=tuple(in_order))


def _own_build(request: MatrixRequest, scenario: Scenario, directory: Path) -> list[VersionPlan]:
    """A row for it, if there is one; nothing is expected of it."""
    folders = {BROKERS: request.kafka_jars, STREAMS: request.streams_jars}
    for axis, folder in folders.items():
        if folder is not None and axis != scenario.axis:
            raise UsageError(f"--{axis}-jars: {scenario.name} goes along {scenario.axis}")
    if all(folder is None for folder in folders.values()):
        return []
    asked = replace(
        _request(request, scenario, None, directory / OWN_RUNS),
        kafka_jars=request.kafka_jars,
        streams_jars=request.streams_jars,
    )
    plan = make_plan(asked)
    own = plan.kafka_jars or own_streams(plan.settings)
    assert own is not None
    return [VersionPlan(version=f"{own.version} (own jars)", expected=None, plan=plan)]


def _versions(request: MatrixRequest, scenario: Scenario) -> list[str]:
    """Each once, as given; by default those the scenario knows."""
    if request.versions is None:
        return list(scenario.versions)
    given = [version.strip() for version in request.versions.split(",")]
    if not all(given):
        raise UsageError(f"--versions takes versions like 3.8.0,3.9.1; got {request.versions!r}")
    return list(dict.fromkeys(given))


def _request(
    request: MatrixRequest, scenario: Scenario, version: str | None, directory: Path
) -> Request:
    """On that version; None: on what the scenario has, until somebody says otherwise."""
    of_brokers = scenario.axis == BROKERS
    chosen = () if of_brokers or version is None else (f"{scenario.axis}={version}",)
    return Request(
        scenario=request.scenario,
        suspect=request.suspect or scenario.axis_suspect,
        seed=request.seed,
        records=request.records,
        kafka=version if of_brokers else None,
        settings=(*request.settings, *chosen),
        streams_config=request.streams_config,
        runs_dir=directory / "versions" / version if version else directory,
    )


def expected_on(scenario: Scenario, version: str) -> Verdict | None:
    """What the scenario says, or its ticket; of a version between two that agree, what both say."""
    if scenario.luck:
        return None
    known = {by_version(each): Verdict(verdict) for each, verdict in scenario.versions.items()}
    place = by_version(version)
    if place in known:
        return known[place]
    if (told := _by_ticket(scenario, place)) is not None:
        return told
    before = [each for each in known if each < place]
    after = [each for each in known if each > place]
    if not before or not after:
        return None
    around = {known[max(before)], known[min(after)]}
    return around.pop() if len(around) == 1 else None


def _by_ticket(scenario: Scenario, place: tuple[int, ...]) -> Verdict | None:
    """Before the bug came, and from its repair on, nothing breaks. Of a version to come, nobody
    knows whether it is the repair."""
    if scenario.since is not None and place < by_version(scenario.since):
        return Verdict.HELD
    if scenario.fixed_in is not None:
        return Verdict.HELD if place >= by_version(scenario.fixed_in) else Verdict.BROKEN
    newest = max(map(by_version, scenario.versions))
    return Verdict.BROKEN if scenario.since is not None and place < newest else None


def expected_of(plan: Plan) -> Verdict | None:
    """Of a run as it is planned: the scenario's own verdict, unless its version says otherwise."""
    scenario = plan.scenario
    version = _version_of(plan)
    if scenario.luck:
        return None
    if plan.suspect.name in scenario.also:
        return Verdict(scenario.also[plan.suspect.name])
    return Verdict(scenario.expect) if version is None else expected_on(scenario, version)


def title(plan: Plan) -> str:
    """The scenario, and where it stands on its axis, or who else is put into it."""
    version = _version_of(plan)
    name = plan.scenario.name
    if plan.suspect.name in plan.scenario.also:
        return f"{name} ({plan.suspect.name})"
    return name if version is None else f"{name} ({plan.scenario.axis} {version})"


def _version_of(plan: Plan) -> str | None:
    """Where it stands on the axis; None: the axis is of another suspect, or there is none."""
    axis = plan.scenario.axis
    if axis is None or not plan.scenario.versions:
        return None
    return plan.scenario.kafka if axis == BROKERS else plan.settings.get(axis)
