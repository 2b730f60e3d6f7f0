"""Shrinks the schedule of a run that broke, by real trials, and writes down what is left.

    run.json, verdict.json ──▶ bases ──▶ subset of faults ──▶ tried/N.toml ──▶ trial ──▶ Trial
                                              ▲                                            │
                                              └──────────── faults/shrink.py ◀─────────────┘
    ──▶ shrunk.toml, test_shrunk.py

Each trial is a scenario's file, run as any other: what is printed in the end is what was tried.
Only the failure that the run had counts: another one that comes up on the way is told, no more.
"""

import contextlib
import shlex
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onceproof.errors import ClusterError, DeadlineExpired, FaultError, ProcessError, UsageError
from onceproof.faults.shrink import Repeats, Subset, Tally, Trial, check_repeats, smallest
from onceproof.history.run_directory import RunDirectory
from onceproof.history.verdict import TrialResult, Verdict
from onceproof.trial.many.broken_run import BrokenRun
from onceproof.trial.many.shrink_bases import bases, has_workers
from onceproof.trial.planning.plan import Plan, make_plan
from onceproof.trial.planning.request import repeat_command
from onceproof.trial.planning.scenario import Scenario
from onceproof.trial.planning.scenario_text import pasteable_test, to_toml

# A trial that could not be carried out says nothing of the suspect; the next one may.
_INCONCLUSIVE = (ClusterError, DeadlineExpired, FaultError, ProcessError)

CarryOut = Callable[[Plan], tuple[TrialResult, RunDirectory]]


@dataclass(frozen=True, kw_only=True)
class Smallest:
    scenario: Scenario
    tally: Tally
    toml: Path
    test: Path
    repeat: str


@dataclass(frozen=True, kw_only=True)
class Shrunk:
    """What came of it; without `smallest` the failure did not come again."""

    run: BrokenRun
    trials: int
    untold: int
    smallest: Smallest | None

    @property
    def faults_before(self) -> int:
        return len(self.run.scenario.schedule())

    def to_json(self) -> dict[str, Any]:
        found = self.smallest
        about: dict[str, Any] = {
            "run": str(self.run.path),
            "reproduced": found is not None,
            "trials": self.trials,
            "trials_unknown": self.untold,
            "faults_before": self.faults_before,
            "iterations_before": self.run.scenario.iterations,
        }
        if found is None:
            return about
        return about | {
            "faults_after": len(found.scenario.faults),
            "iterations_after": found.scenario.iterations,
            "broke": found.tally.broke,
            "of": found.tally.of,
            "anomalies": list(found.tally.anomalies),
            "faults": list(found.scenario.faults),
            "scenario": str(found.toml),
            "test": str(found.test),
            "repeat": found.repeat,
        }


class Shrinking:
    """All that is wrong with the request is told when it is made, before anything is started."""

    def __init__(
        self,
        run: BrokenRun,
        *,
        runs_dir: Path,
        needed: int,
        repeats: int,
        tell: Callable[[str], None],
    ) -> None:
        check_repeats(needed, repeats)
        self._run = run
        self._runs_dir = runs_dir
        self._needed = needed
        self._repeats = repeats
        self._tell = tell
        self._bases = bases(run)
        self._number = 0
        name = run.path.resolve().name
        self.folder = runs_dir / self._bases[0].name / f"of-{name}"
        self._make_folder()
        self._check_plan()

    def _check_plan(self) -> None:
        whole = self._write("tried/whole.toml", self._bases[-1])
        make_plan(self._run.request(whole, self._runs_dir))

    def carry_out(self, carry_out: CarryOut) -> Shrunk:
        trials = untold = 0
        for base in self._bases:
            repeats = self._repeats_of(base, carry_out)
            found = smallest(base.faults, repeats.breaks)
            trials += repeats.trials
            untold += repeats.untold
            if found is not None:
                answer = self._write_down(base, found, repeats.tally(found))
                return Shrunk(run=self._run, trials=trials, untold=untold, smallest=answer)
        return Shrunk(run=self._run, trials=trials, untold=untold, smallest=None)

    def _repeats_of(self, base: Scenario, carry_out: CarryOut) -> Repeats:
        return Repeats(
            lambda subset: self._attempt(base, subset, carry_out),
            needed=self._needed,
            repeats=self._repeats,
        )

    def _attempt(self, base: Scenario, subset: Subset, carry_out: CarryOut) -> Trial:
        self._number += 1
        scenario = self._scenario(base, subset)
        if not has_workers(scenario):
            return Trial(verdict=Verdict.UNKNOWN, told="no instance would be left at work")
        path = self._write(f"tried/{self._number}.toml", scenario)
        plan = make_plan(self._run.request(path, self._runs_dir))
        try:
            result, directory = carry_out(plan)
            trial, where = self._trial(result), str(directory.report_html)
        except _INCONCLUSIVE as problem:
            trial, where = Trial(verdict=Verdict.UNKNOWN, told=str(problem)), str(path)
        told = ", ".join(trial.anomalies) or trial.told
        self._tell(
            f"trial {self._number}: {len(subset)} of {len(base.faults)} faults,"
            f" {base.iterations} iteration(s): {trial.verdict.value}{told and ': '}{told}  {where}"
        )
        return trial

    def _trial(self, result: TrialResult) -> Trial:
        found = tuple(finding.anomaly for finding in result.findings)
        if result.verdict is Verdict.UNKNOWN:
            return Trial(verdict=Verdict.UNKNOWN, told="; ".join(result.reasons))
        if result.verdict is Verdict.BROKEN and not self._run.anomalies & set(found):
            wanted = ", ".join(sorted(self._run.anomalies))
            told = f"it broke otherwise: {', '.join(found)}, not {wanted}"
            return Trial(verdict=Verdict.UNKNOWN, told=told)
        return Trial(verdict=result.verdict, anomalies=found)

    def _scenario(
        self, base: Scenario, subset: Subset, anomalies: tuple[str, ...] = ()
    ) -> Scenario:
        kept = tuple(base.faults[place] for place in subset)
        told = f"{len(kept)} of {len(base.faults)} faults of {self._run.scenario.name}"
        return base.model_copy(
            update={
                "description": f"{told}, seed {self._run.seed}",
                "faults": kept,
                "expect_anomalies": anomalies,
                "seen": (),  # with fewer faults it need not come to that, and holds
            }
        )

    def _write_down(self, base: Scenario, found: Subset, tally: Tally) -> Smallest:
        scenario = self._scenario(base, found, tally.anomalies if tally.agree else ())
        request = self._run.request(self.folder / "shrunk.toml", self._runs_dir)
        repeat = repeat_command(request)
        note = f"# {repeat}\n# It broke in {tally.broke} of {tally.of} trials.\n"
        toml = self._write("shrunk.toml", scenario, note)
        test = self.folder / "test_shrunk.py"
        program = pasteable_test(
            toml.read_text(encoding="utf-8"),
            shlex.split(repeat)[3:],  # what follows `onceproof run SCENARIO`
            anomalies=sorted(self._run.anomalies & set(tally.anomalies)),
            tries=self._repeats,
        )
        test.write_text(program, encoding="utf-8")
        return Smallest(scenario=scenario, tally=tally, toml=toml, test=test, repeat=repeat)

    def _write(self, name: str, scenario: Scenario, note: str = "") -> Path:
        path = self.folder / name
        path.write_text(note + to_toml(scenario), encoding="utf-8")
        return path

    def _make_folder(self) -> None:
        """Nothing stays of an earlier shrinking of the same run."""
        try:
            shutil.rmtree(self.folder, ignore_errors=True)
            (self.folder / "tried").mkdir(parents=True)
        except OSError as error:
            raise UsageError(f"--runs-dir {self._runs_dir} cannot be used: {error}") from error


@contextlib.contextmanager
def one_session(folder: Path) -> Iterator[CarryOut]:
    """Trials that share one Spark session, which is ended with them; its log is in `folder`."""
    from onceproof.trial.run import run_trial
    from onceproof.trial.spark import JudgeSpark

    with tempfile.TemporaryDirectory() as scratch:
        spark = JudgeSpark.start(folder, Path(scratch))
        try:
            yield lambda plan: run_trial(plan, spark=spark)
        finally:
            spark.stop()
