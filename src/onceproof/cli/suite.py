"""`onceproof suite`: scenarios one after the other, each compared with the verdict it expects."""

import contextlib
import time
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from onceproof.cli.printing import say, say_error, say_json
from onceproof.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from onceproof.history.event import Event
    from onceproof.history.suite import SuiteCase
    from onceproof.history.verdict import TrialResult
    from onceproof.trial.planning.plan import Plan


def suite(
    names: list[str] = typer.Argument(None, help="Scenarios; none: all of them."),
    seed: int = typer.Option(1, help="For all of them."),
    quick: bool = typer.Option(False, help="What goes along versions, on a bad and a good one."),
    kafka: str | None = typer.Option(None, help="Version of the brokers, for all of them."),
    runs_dir: Path = typer.Option(Path("runs"), help="Where run directories are made."),
    junit: Path | None = typer.Option(None, help="Also write the outcome as JUnit XML."),
    as_json: bool = typer.Option(False, "--json", help="Print the outcome as JSON."),
) -> int:
    """Run scenarios, on all versions they know, and compare each with the verdict it expects."""
    from onceproof.history.run_directory import ensure_runs_dir
    from onceproof.report.junit import render_junit
    from onceproof.trial.many.suite_plan import names_to_run, suite_plans
    from onceproof.trial.planning.request import Request

    if junit is not None and not junit.absolute().parent.is_dir():
        raise UsageError(f"--junit {junit}: there is no such folder")  # known before, not after
    request = Request(seed=seed, kafka=kafka, runs_dir=runs_dir)
    plans = suite_plans(names_to_run(names or [], quick=quick), request, quick=quick)
    ours = runs_dir / "suite" / f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-s{seed}"
    ensure_runs_dir(ours)
    began = time.monotonic()
    outcomes = _carry_out(plans, ours)
    if junit is not None:
        junit.write_text(render_junit(outcomes))
    _summary(outcomes, as_json=as_json)
    said = sum(ended.is_as_expected for ended in outcomes)
    minutes = (time.monotonic() - began) / 60
    say_error(f"{said} of {len(outcomes)} as expected, in {minutes:.1f} minutes")
    # Among many, 1 has the last word.
    codes = {ended.code for ended in outcomes}
    return next((code for code in (1, 2) if code in codes), 0)


def _carry_out(plans: "list[Plan]", directory: Path) -> "list[SuiteCase]":
    """One Spark, warm after the first; brokers to each its own."""
    from onceproof.history.suite import SuiteCase
    from onceproof.trial.many.axis import expected_of, title
    from onceproof.trial.many.premises import Premises
    from onceproof.trial.many.relay import Relay

    outcomes: list[SuiteCase] = []
    with Premises(directory) as premises, _Shown() as shown:
        relay = Relay(premises=premises, own_brokers=True)
        trials = list(enumerate(plans, start=1))
        for over in relay.run(trials, lambda number: shown.begin(plans[number - 1])):
            plan = plans[over.key - 1]
            ended = SuiteCase(
                title=title(plan),
                expected=expected_of(plan),
                expected_anomalies=plan.scenario.expect_anomalies,
                result=over.result or _not_begun(plan, over.problem),
            )
            outcomes.append(ended)
            where = "" if over.run is None else over.run / "report.html"
            took = f"({ended.result.duration_s:.1f} s)"
            say_error(f"{over.key:3}/{len(plans)}  {ended.title}: {ended.told()}  {took}  {where}")
    return outcomes


class _Shown:
    """The trial that is held is shown; one that is only judged still is not."""

    def __init__(self) -> None:
        self._display = contextlib.ExitStack()
        self._number = 0

    def __enter__(self) -> "_Shown":
        return self

    def __exit__(self, *_: object) -> None:
        self._display.close()

    def begin(self, plan: "Plan") -> "Callable[[Event], None]":
        from onceproof.cli.display import display

        self._display.close()
        show = self._display.enter_context(display(plan))
        self._number = number = self._number + 1

        def listener(event: "Event") -> None:
            if number == self._number:
                show(event)

        return listener


def _not_begun(plan: "Plan", problem: str) -> "TrialResult":
    from onceproof.history.verdict import TrialResult, Verdict

    return TrialResult(
        scenario=plan.scenario.name,
        suspect=plan.suspect.name,
        workload=plan.scenario.workload,
        seed=plan.seed,
        verdict=Verdict.UNKNOWN,
        reasons=(problem,),
        repeat=plan.repeat,
    )


def _summary(outcomes: "list[SuiteCase]", *, as_json: bool) -> None:
    if as_json:
        say_json(
            [
                {"expected": ended.expected, "as_expected": ended.is_as_expected}
                | ended.result.to_json()
                for ended in outcomes
            ]
        )
        return
    for ended in outcomes:
        say(f"{ended.title:45} {ended.told()}")
