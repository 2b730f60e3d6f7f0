"""Planted liars are convicted of exactly their lie, honest programs acquitted. Real brokers."""

import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from liars import HONEST, LIARS, Program, path_of

from onceproof.cluster.local import LocalCluster
from onceproof.history.verdict import TrialResult, Verdict
from onceproof.trial.planning.plan import make_plan
from onceproof.trial.planning.request import Request
from onceproof.trial.run import run_trial
from onceproof.trial.spark import JudgeSpark

RECORDS = 1_280
FEED_S = 5
# A kill aims at a transaction that is open for milliseconds: there must be time to see one, and
# instance 0 may get its partitions late.
KILLED_FEED_S = 15

ONE_KILL = """
description = "one kill while output is being written"
suspect = "command"
workload = "copy"
expect = "HELD"

[[faults]]
action = "kill"
target = "instance:random"
at = "30%"
aim = "mid_output"
"""


class Court:
    def __init__(self, cluster: LocalCluster, spark: JudgeSpark, folder: Path) -> None:
        self._cluster = cluster
        self._spark = spark
        self._folder = folder

    def trial(self, name: str, program: Program, *, seed: int = 1) -> TrialResult:
        is_killed = program.needs_restart or (program.anomaly is None and program.is_killed)
        scenario = self._one_kill() if is_killed else "tc01_normal"
        request = Request(
            scenario=scenario,
            command=shlex.join([sys.executable, str(path_of(name))]),
            workload=program.workload,
            seed=seed,
            records=RECORDS,
            bootstrap_server=self._cluster.bootstrap(),
            settings=(
                "stuck_after_s=12",
                f"feed_s={KILLED_FEED_S if is_killed else FEED_S}",
                f"transactional={str(program.transactional).lower()}",
                f"instances={program.instances_max}",
            ),
            runs_dir=self._folder / "runs",
        )
        result, _ = run_trial(make_plan(request), spark=self._spark)
        return result

    def _one_kill(self) -> str:
        path = self._folder / "one_kill.toml"
        path.write_text(ONE_KILL)
        return str(path)


@pytest.fixture
def court(one_broker: LocalCluster, judge_spark: JudgeSpark, tmp_path: Path) -> Court:
    return Court(one_broker, judge_spark, tmp_path)


# In `make test` one of each kind: killed or not, seen in records, in states.
QUICK = {"drops_after_restart.py", "honest_copy.py"}


def programs(names: Iterable[str]) -> list[Any]:
    """The others take their time in the jury."""
    return [pytest.param(name, marks=() if name in QUICK else pytest.mark.jury) for name in names]


@pytest.mark.parametrize("name", programs(LIARS))
def test_a_planted_liar_is_convicted_of_exactly_its_lie(name: str, court: Court) -> None:
    result = court.trial(name, LIARS[name])
    assert result.verdict is Verdict.BROKEN, result.reasons
    assert [finding.anomaly for finding in result.findings] == [LIARS[name].anomaly]
    assert result.findings[0].witnesses


@pytest.mark.parametrize("name", programs(HONEST))
def test_an_honest_program_is_acquitted_although_it_was_killed(name: str, court: Court) -> None:
    result = court.trial(name, HONEST[name])
    assert result.verdict is Verdict.HELD, (result.reasons, result.findings)
    assert [fault.applied for fault in result.faults] == [True] * HONEST[name].is_killed


def test_a_suspect_that_dies_at_start_is_told_with_the_tail_of_its_log(court: Court) -> None:
    result = court.trial("dies_at_start.py", LIARS["dies_at_start.py"])
    (finding,) = result.findings
    assert 'exit code 3, last words "no licence file found": died.' in finding.witnesses[0].sentence
