"""What a suite runs: each scenario as it stands, with its cures, varied, and on the versions it
knows.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from onceproof.trial.many.axis import MatrixRequest, VersionPlan, expected_of, plan_axis
from onceproof.trial.planning.plan import Plan, make_plan
from onceproof.trial.planning.request import Request
from onceproof.trial.planning.scenario import (
    VARIANT_SIGN,
    load_scenario,
    scenario_names,
    variant_names,
)
from onceproof.trial.planning.variants import CONTROL

# A clean run that is acquitted, and a known liar that is convicted: of no version's making.
CONTROLS = ("tc01_normal", "tc02_at_least_once")


def names_to_run(names: Sequence[str], *, quick: bool) -> list[str]:
    """Those asked for, or all; `quick`: those that go along versions, and a control of each side.

    What has no versions is left out of a quick pass: outages take the time that their timeouts do.
    """
    if names or not quick:
        return list(names) or scenario_names()
    along = [name for name in scenario_names() if load_scenario(name).axis is not None]
    return sorted([*CONTROLS, *along])


def suite_plans(names: Iterable[str], request: Request, *, quick: bool) -> list[Plan]:
    """Each scenario as it stands, with its cures, on the other versions it knows, with the other
    suspects it names; and its variants likewise.

    `quick`: with one cure, on one more version, that should end otherwise. Where `request` says
    which brokers, on no more. Where luck decides there is nothing to compare with.
    """
    plans = []
    for name in names:
        asked = replace(request, scenario=name)
        own = make_plan(asked)
        cures = list(own.scenario.cures)[: 1 if quick else None]
        plans += [own, *(make_plan(_varied(asked, cure)) for cure in cures)]
        others = _other_versions(own, asked)
        plans += [at.plan for at in (_opposite(others, own) if quick else others)]
        if not quick:
            plans += _also(own, asked)
            plans += [plan for variant in variant_names(name) for plan in _variant(asked, variant)]
    return plans


def _varied(request: Request, variant: str) -> Request:
    return replace(request, scenario=f"{request.scenario}{VARIANT_SIGN}{variant}")


def _variant(request: Request, variant: str) -> list[Plan]:
    """As it stands, on the other versions, and with the other suspects. A control holds on every
    version: one is enough here.
    """
    asked = _varied(request, variant)
    own = make_plan(asked)
    if own.scenario.luck:
        return []
    if variant == CONTROL:
        return [own]
    return [own, *(at.plan for at in _other_versions(own, asked)), *_also(own, asked)]


def _also(own: Plan, request: Request) -> list[Plan]:
    return [make_plan(replace(request, suspect=suspect)) for suspect in own.scenario.also]


def _other_versions(own: Plan, request: Request) -> list[VersionPlan]:
    """Those of its axis; none where it has none, or where the request says which brokers."""
    if own.scenario.axis is None or request.kafka is not None:
        return []
    asked = MatrixRequest(scenario=request.scenario, seed=request.seed)
    axis = plan_axis(asked, load_scenario(request.scenario), request.runs_dir)
    here = [replace(at, plan=replace(at.plan, runs_dir=request.runs_dir)) for at in axis.versions]
    return [at for at in here if _is_other(at.plan, own)]


def _is_other(plan: Plan, own: Plan) -> bool:
    def ground(each: Plan) -> tuple[object, ...]:
        return each.suspect.name, each.scenario.kafka, dict(each.settings)

    return ground(plan) != ground(own)


def _opposite(others: Sequence[VersionPlan], own: Plan) -> list[VersionPlan]:
    return [at for at in others if at.expected not in (None, expected_of(own))][:1]
