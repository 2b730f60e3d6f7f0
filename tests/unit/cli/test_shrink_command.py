"""`onceproof shrink`: what it prints and how it ends. The trials are made up."""

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from onceproof.cli.main import main
from onceproof.history.finding import Finding
from onceproof.history.run_directory import RunDirectory
from onceproof.history.verdict import TrialResult, Verdict
from onceproof.trial.about import write_run_json
from onceproof.trial.many import shrink
from onceproof.trial.planning.plan import Plan, make_plan
from onceproof.trial.planning.request import Request


def result_of(plan: Plan, *, breaks: bool) -> TrialResult:
    return TrialResult(
        scenario=plan.scenario.name,
        suspect=plan.suspect.name,
        workload=plan.scenario.workload,
        seed=plan.seed,
        verdict=Verdict.BROKEN if breaks else Verdict.HELD,
        findings=(Finding(anomaly="lost", count=1),) if breaks else (),
    )


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("onceproof.trial.about.versions", lambda _: {})
    return tmp_path / "runs"


def stored(runs: Path, *, breaks: bool) -> str:
    plan = make_plan(Request(scenario="tc02_at_least_once", runs_dir=runs))
    directory = RunDirectory.create(runs, plan.scenario.name, plan.seed)
    write_run_json(directory, plan, began_at=1_800_000_000.0)
    result_of(plan, breaks=breaks).save(directory.verdict_json)
    return str(directory.path)


def pretend(monkeypatch: pytest.MonkeyPatch, breaks: Callable[[Plan], bool]) -> None:
    @contextlib.contextmanager
    def session(folder: Path) -> Iterator[shrink.CarryOut]:
        assert folder.is_dir()
        yield lambda plan: (result_of(plan, breaks=breaks(plan)), RunDirectory(Path("a-run")))

    monkeypatch.setattr(shrink, "one_session", session)


def test_the_program_and_the_test_are_printed_and_the_end_is_0(
    runs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pretend(monkeypatch, lambda plan: len(plan.schedule) >= 1)
    run_dir = stored(runs, breaks=True)
    assert main(["shrink", run_dir, "--runs-dir", str(runs)]) == 0
    printed = capsys.readouterr()
    folder = runs / "tc02_at_least_once-shrunk" / f"of-{Path(run_dir).name}"
    assert (folder / "shrunk.toml").read_text() in printed.out
    assert (folder / "test_shrunk.py").read_text() in printed.out
    assert printed.out.splitlines()[-2:] == [
        "2 faults shrunk to 1: broke 2 of 2 times (lost); 1 iteration(s);"
        " 6 trials, 0 of them UNKNOWN",
        f"repeat: onceproof run {folder}/shrunk.toml --seed 1",
    ]
    told = [line for line in printed.err.splitlines() if line.startswith("trial ")]
    assert told[0] == "trial 1: 0 of 2 faults, 1 iteration(s): HELD  a-run/report.html"
    assert told[-1] == "trial 6: 1 of 2 faults, 1 iteration(s): BROKEN: lost  a-run/report.html"


def test_what_does_not_come_again_ends_with_2(
    runs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pretend(monkeypatch, lambda _: False)
    run_dir = stored(runs, breaks=True)
    assert main(["shrink", run_dir, "--runs-dir", str(runs)]) == 2
    assert capsys.readouterr().out == (
        "not reproduced: all 2 faults broke it in fewer than 2 of 3 trials"
        " (4 trials, 0 of them UNKNOWN)\n"
    )


def test_json_is_all_that_is_printed(
    runs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pretend(monkeypatch, lambda _: True)
    arguments = ["--runs-dir", str(runs), "--needed", "1", "--repeats", "1", "--json"]
    assert main(["shrink", stored(runs, breaks=True), *arguments]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["faults_after"], data["trials"]) == (0, 1)


def test_a_run_that_did_not_break_is_refused_before_anything_is_started(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["shrink", stored(runs, breaks=False), "--runs-dir", str(runs)]) == 254
    assert "is HELD; only a BROKEN run can be shrunk" in capsys.readouterr().err


def test_more_than_all_trials_cannot_be_needed(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["shrink", stored(runs, breaks=True), "--needed", "4"]) == 254
    assert "got 4 of 3" in capsys.readouterr().err
