"""A stored run that broke, with all that is needed to try it again."""

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onceproof.errors import UsageError
from onceproof.history.fault_record import FaultRecord
from onceproof.history.run_directory import RunDirectory
from onceproof.history.verdict import TrialResult, Verdict
from onceproof.trial.planning.request import Request
from onceproof.trial.planning.scenario import Scenario, make_scenario
from onceproof.trial.planning.settings import as_settings


@dataclass(frozen=True, kw_only=True)
class BrokenRun:
    path: Path
    scenario: Scenario  # with the suspect's settings as they were
    seed: int
    command: str | None
    bootstrap_server: str | None
    anomalies: frozenset[str]
    records: tuple[FaultRecord, ...]  # of the iteration in which it broke

    def request(self, scenario: Path, runs_dir: Path) -> Request:
        return Request(
            scenario=str(scenario),
            command=self.command,
            workload=self.scenario.workload if self.command else None,
            seed=self.seed,
            bootstrap_server=self.bootstrap_server,
            runs_dir=runs_dir,
        )


def load_broken_run(run_dir: Path) -> BrokenRun:
    directory = RunDirectory(run_dir)
    for needed in (directory.run_json, directory.verdict_json):
        if not needed.is_file():
            raise UsageError(f"{run_dir} is no finished run directory: {needed.name} is missing")
    try:
        about = json.loads(directory.run_json.read_text(encoding="utf-8"))
        result = TrialResult.load(directory.verdict_json)
        if result.verdict is not Verdict.BROKEN:
            raise UsageError(
                f"{run_dir} is {result.verdict.value}; only a BROKEN run can be shrunk:"
                " there must be a failure to keep"
            )
        return _broken_run(run_dir, about, result)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{run_dir} cannot be read: {type(error).__name__}: {error}") from error


def _broken_run(run_dir: Path, about: Mapping[str, Any], result: TrialResult) -> BrokenRun:
    if about.get("own_jars", {}).get("kafka"):
        raise UsageError(
            f"{run_dir} ran on brokers of your own build (--kafka-jars), which it does not hold:"
            " other brokers would be tried"
        )
    settings = dict(about["settings"])
    is_command = about["command"] is not None
    if is_command:
        # Runs of before say only this one.
        settings |= as_settings(
            about.get("declared", {"transactional": about.get("transactional")})
        )
    return BrokenRun(
        path=run_dir,
        scenario=make_scenario({**about["scenario"], "settings": settings}),
        seed=about["seed"],
        command=shlex.join(about["command"]) if is_command else None,
        bootstrap_server=about.get("bootstrap_server"),
        anomalies=frozenset(finding.anomaly for finding in result.findings),
        records=tuple(each for each in result.faults if each.iteration == result.iterations),
    )
