"""A random schedule that breaks a plain consumer is shrunk to the one kill that does it."""

import subprocess
import sys
from pathlib import Path

import pytest

from onceproof.history.verdict import Verdict
from onceproof.trial.many.broken_run import load_broken_run
from onceproof.trial.many.shrink import Shrinking
from onceproof.trial.planning.plan import make_plan
from onceproof.trial.planning.request import Request
from onceproof.trial.planning.scenario import load_scenario
from onceproof.trial.run import run_trial
from onceproof.trial.spark import JudgeSpark

pytestmark = [pytest.mark.jury, pytest.mark.timeout(3600)]
# Four faults, of which one kill is sure to repeat output: its acknowledgement is lost with it.
SEED = 3558
AIM = "Produce response"
SCENARIO = """
description = "a plain consumer, one broker"
suspect = "consumer_manual_commit"
workload = "copy"
records = 1600
brokers = 1
expect = "BROKEN"
"""


@pytest.fixture
def scenario(tmp_path: Path) -> str:
    path = tmp_path / "plain.toml"
    path.write_text(SCENARIO)
    return str(path)


def test_four_random_faults_are_shrunk_to_the_one_that_breaks_it(
    scenario: str, judge_spark: JudgeSpark, tmp_path: Path
) -> None:
    runs = tmp_path / "runs"
    plan = make_plan(Request(scenario=scenario, seed=SEED, random_faults=4, runs_dir=runs))
    aims = [str(step.aim) for step in plan.schedule if step.actions == ("kill",)]
    assert (len(plan.schedule), aims) == (4, [AIM]), "the seed has another schedule now"
    result, directory = run_trial(plan, spark=judge_spark)
    assert result.verdict is Verdict.BROKEN, result.reasons

    told: list[str] = []
    run = load_broken_run(directory.path)
    shrinking = Shrinking(run, runs_dir=runs, needed=2, repeats=3, tell=told.append)
    shrunk = shrinking.carry_out(lambda each: run_trial(each, spark=judge_spark))

    assert shrunk.smallest is not None, told
    (fault,) = load_scenario(str(shrunk.smallest.toml)).faults
    assert (fault["action"], fault["target"], fault["aim"]) == ("kill", "instance:0", AIM), told
    assert "duplicated" in shrunk.smallest.tally.anomalies
    assert len(told) == shrunk.trials
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", str(shrunk.smallest.test)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout
