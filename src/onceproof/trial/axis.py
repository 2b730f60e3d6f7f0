"""The versions a scenario goes along, and what is expected of each. Pure.

axis = "kafka"     the brokers
       "clients"   kafka-clients of a suspect in Java
       "streams"   Kafka Streams
"""

from dataclasses import dataclass, replace
from pathlib import Path

from onceproof.errors import UsageError
from onceproof.history.matrix import by_version
from onceproof.history.verdict import Verdict
from onceproof.trial.plan import Plan, Request, make_plan
from onceproof.trial.scenario import Scenario, load_scenario, scenario_names

ALL = "all"
BROKERS = "kafka"
REPEATS_MAX = 100


@dataclass(frozen=True, kw_only=True)
class MatrixRequest:
    """The command line, as given. None: not given."""

    scenario: str
    versions: str | None = None  # "3.8.0,3.9.1"
    repeats: int = 1
    seed: int = 1
    records: int | None = None
    settings: tuple[str, ...] = ()


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
        return [plan_axis(request, load_scenario(request.scenario), directory)]
    if request.versions is not None:
        raise UsageError("--versions goes with one scenario: each has an axis of its own")
    scenarios = [load_scenario(name) for name in scenario_names()]
    return [
        plan_axis(replace(request, scenario=each.name), each, directory)
        for each in scenarios
        if each.axis is not None
    ]


def plan_axis(request: MatrixRequest, scenario: Scenario, directory: Path) -> AxisPlan:
    if scenario.axis is None:
        known = [name for name in scenario_names() if load_scenario(name).axis is not None]
        raise UsageError(
            f"scenario {scenario.name} names no axis to go along; those that do: {', '.join(known)}"
        )
    versions = sorted(_versions(request, scenario), key=by_version)
    plans = [
        VersionPlan(
            version=version,
            expected=expected_on(scenario, version),
            plan=make_plan(_request(request, scenario, version, directory)),
        )
        for version in versions
    ]
    return AxisPlan(scenario=scenario, axis=scenario.axis, versions=tuple(plans))


def _versions(request: MatrixRequest, scenario: Scenario) -> list[str]:
    """Each once, as given; by default those the scenario knows."""
    if request.versions is None:
        return list(scenario.versions)
    given = [version.strip() for version in request.versions.split(",")]
    if not all(given):
        raise UsageError(f"--versions takes versions like 3.8.0,3.9.1; got {request.versions!r}")
    return list(dict.fromkeys(given))


def _request(request: MatrixRequest, scenario: Scenario, version: str, directory: Path) -> Request:
    of_brokers = scenario.axis == BROKERS
    chosen = () if of_brokers else (f"{scenario.axis}={version}",)
    return Request(
        scenario=request.scenario,
        suspect=scenario.axis_suspect,
        seed=request.seed,
        records=request.records,
        kafka=version if of_brokers else None,
        settings=(*request.settings, *chosen),
        runs_dir=directory / "versions" / version,
    )


def expected_on(scenario: Scenario, version: str) -> Verdict | None:
    """What the scenario says; of a version between two that agree, what both say; else None."""
    known = {by_version(each): verdict for each, verdict in scenario.versions.items()}
    place = by_version(version)
    if place in known:
        return Verdict(known[place])
    before = [each for each in known if each < place]
    after = [each for each in known if each > place]
    if not before or not after:
        return None
    around = {known[max(before)], known[min(after)]}
    return Verdict(around.pop()) if len(around) == 1 else None


def expected_of(plan: Plan) -> Verdict | None:
    """Of a run as it is planned: the scenario's own verdict, unless its version says otherwise."""
    scenario = plan.scenario
    version = _version_of(plan)
    return Verdict(scenario.expect) if version is None else expected_on(scenario, version)


def title(plan: Plan) -> str:
    """The scenario, and where it stands on its axis."""
    version = _version_of(plan)
    name = plan.scenario.name
    if plan.scenario.cure:
        return f"{name} (cure {plan.scenario.cure})"
    return name if version is None else f"{name} ({plan.scenario.axis} {version})"


def _version_of(plan: Plan) -> str | None:
    """Where it stands on the axis; None: the axis is of another suspect, or there is none."""
    axis = plan.scenario.axis
    if axis is None or not plan.scenario.versions:
        return None
    return plan.scenario.kafka if axis == BROKERS else plan.settings.get(axis)
