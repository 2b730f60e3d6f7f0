"""`onceproof suite`: scenarios one after the other, each compared with the verdict it expects."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from onceproof.cli.printing import say, say_error, say_json

if TYPE_CHECKING:
    from onceproof.history.verdict import TrialResult
    from onceproof.trial.scenario import Scenario


def suite(
    names: list[str] = typer.Argument(None, help="Scenarios; none: all of them."),
    seed: int = typer.Option(1, help="For all of them."),
    runs_dir: Path = typer.Option(Path("runs"), help="Where run directories are made."),
    junit: Path | None = typer.Option(None, help="Also write the outcome as JUnit XML."),
    as_json: bool = typer.Option(False, "--json", help="Print the outcome as JSON."),
) -> int:
    """Run scenarios and compare each with the verdict it expects."""
    from onceproof.cli.display import display
    from onceproof.history.verdict import Verdict
    from onceproof.report.junit import SuiteCase, render_junit
    from onceproof.trial.plan import Request, make_plan
    from onceproof.trial.run import run_trial
    from onceproof.trial.scenario import scenario_names

    plans = [
        make_plan(Request(scenario=name, seed=seed, runs_dir=runs_dir))
        for name in names or scenario_names()
    ]
    outcomes = []
    for plan in plans:
        with display(plan) as listener:
            result, directory = run_trial(plan, listener)
        outcomes.append((plan.scenario, result))
        say_error(f"{plan.scenario.name}: {_told(plan.scenario, result)}  {directory.report_html}")
    if junit is not None:
        junit.write_text(
            render_junit(
                SuiteCase(scenario=each.name, expected=Verdict(each.expect), result=result)
                for each, result in outcomes
            )
        )
    _summary(outcomes, as_json=as_json)
    codes = {_code(scenario, result) for scenario, result in outcomes}
    return next((code for code in (1, 2) if code in codes), 0)


def as_expected(scenario: "Scenario", result: "TrialResult") -> bool:
    """The verdict, and for a BROKEN also exactly the anomalies, if the scenario names them."""
    if result.verdict.value != scenario.expect:
        return False
    found = {finding.anomaly for finding in result.findings}
    return not scenario.expect_anomalies or found == set(scenario.expect_anomalies)


def _code(scenario: "Scenario", result: "TrialResult") -> int:
    """0 as expected, 1 not as expected, 2 could not be told; among many, 1 has the last word."""
    if as_expected(scenario, result):
        return 0
    return 2 if result.verdict.value == "UNKNOWN" else 1


def _told(scenario: "Scenario", result: "TrialResult") -> str:
    found = ", ".join(finding.anomaly for finding in result.findings)
    verdict = result.verdict.value + (f" ({found})" if found else "")
    if as_expected(scenario, result):
        return f"{verdict}, as expected"
    return (
        f"{verdict}, but expected {scenario.expect} {' '.join(scenario.expect_anomalies)}".strip()
    )


def _summary(outcomes: list[tuple["Scenario", "TrialResult"]], *, as_json: bool) -> None:
    if as_json:
        say_json(
            [
                {"expected": scenario.expect, "as_expected": as_expected(scenario, result)}
                | result.to_json()
                for scenario, result in outcomes
            ]
        )
        return
    for scenario, result in outcomes:
        say(f"{scenario.name:24} {_told(scenario, result)}")
