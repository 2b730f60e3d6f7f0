"""Shrinks the schedule of a run that broke, by real trials, and writes down what is left.

    run.json, verdict.json ──▶ bases ──▶ subset of faults ──▶ tried/N.toml ──▶ trial ──▶ Trial
                                              ▲                                            │
                                              └──────────── faults/shrink.py ◀─────────────┘
    ──▶ shrunk.toml, test_shrunk.py

Each trial is a scenario's file, run as any other: what is printed in the end is what was tried.
Only the failure that the run had counts: another one that comes up on the way is told, no more.
"""

import contextlib
import json
import re
import shlex
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onceproof.errors import ClusterError, DeadlineExpired, FaultError, ProcessError, UsageError
from onceproof.faults.program import running_after
from onceproof.faults.shrink import Repeats, Subset, Tally, Trial, check_repeats, smallest
from onceproof.faults.toggle import TOGGLE
from onceproof.history.fault_record import FaultRecord
from onceproof.history.run_directory import RunDirectory
from onceproof.history.verdict import TrialResult, Verdict
from onceproof.trial.planning.plan import Plan, Request, make_plan, repeat_command
from onceproof.trial.planning.scenario import Scenario, make_scenario
from onceproof.trial.planning.scenario_text import pasteable_test, to_toml
from onceproof.trial.planning.settings import as_settings
from onceproof.workloads.input_plan import keys_for

SUFFIX = "-shrunk"
NAME_CHARS_MAX = 80
# A trial that could not be carried out says nothing of the suspect; the next one may.
_INCONCLUSIVE = (ClusterError, DeadlineExpired, FaultError, ProcessError)
_NUMBERED = re.compile(r"^(instance|broker) (\d+)")

CarryOut = Callable[[Plan], tuple[TrialResult, RunDirectory]]
Fault = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class BrokenRun:
    """A stored run, with all that is needed to try it again."""

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
        settings |= as_settings(about["declared"])
    return BrokenRun(
        path=run_dir,
        scenario=make_scenario({**about["scenario"], "settings": settings}),
        seed=about["seed"],
        command=shlex.join(about["command"]) if is_command else None,
        bootstrap_server=about.get("bootstrap_server"),
        anomalies=frozenset(finding.anomaly for finding in result.findings),
        records=tuple(each for each in result.faults if each.iteration == result.iterations),
    )


def bases(run: BrokenRun) -> list[Scenario]:
    """What to shrink, the cheapest first: one iteration as the last one was, then the whole loop.

    In one iteration every choice the seed made is written out. Otherwise a fault less would mean
    other victims for all that come after it. A loop whose iterations differ is shrunk as a whole.
    """
    scenario = run.scenario
    name = scenario.name.removesuffix(SUFFIX)[: NAME_CHARS_MAX - len(SUFFIX)] + SUFFIX
    faults = _one_moment_each(scenario.faults)
    whole = {**scenario.model_dump(), "name": name, "faults": faults, "expect": "BROKEN"}
    whole["expect_anomalies"] = ()
    if scenario.shares or any("iteration" in fault for fault in faults):
        return [make_scenario(whole)]
    records = max(1, scenario.records // scenario.iterations)
    one = {
        "iterations": 1,
        "records": records,
        "keys": min(records, scenario.keys or keys_for(scenario.records)),
        "faults": _as_carried_out(faults, run.records),
    }
    found = [make_scenario({**whole, **one})]
    return found if scenario.iterations == 1 else [*found, make_scenario(whole)]


def _one_moment_each(faults: Sequence[Fault]) -> list[Fault]:
    return [
        {**fault, "at": at}
        for fault in faults
        for at in ([fault["at"]] if isinstance(fault["at"], str) else fault["at"])
    ]


def _as_carried_out(faults: Sequence[Fault], records: Sequence[FaultRecord]) -> list[Fault]:
    """A record each, in order; a run that ended early has fewer, and leaves the rest open."""
    known = [*records, *[None] * len(faults)]
    return [
        fault if record is None else _chosen(fault, record)
        for fault, record in zip(faults, known, strict=False)
    ]


def _chosen(fault: Fault, record: FaultRecord) -> Fault:
    chosen = dict(fault)
    if record.action in fault["action"]:
        chosen["action"] = record.action
    numbered = _NUMBERED.match(record.target)
    if numbered is not None and fault["target"] == f"{numbered[1]}:random":
        chosen["target"] = f"{numbered[1]}:{numbered[2]}"
    return chosen


def _has_workers(scenario: Scenario) -> bool:
    """Of a program too little may be left: with nobody at work there is nothing to be seen."""
    toggled = (fault for fault in scenario.faults if fault["action"] == TOGGLE)
    numbers = tuple(int(str(fault["target"]).rpartition(":")[2]) for fault in toggled)
    return scenario.running != 0 or bool(running_after(numbers))


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
        if not _has_workers(scenario):
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
