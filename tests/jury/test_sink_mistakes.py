"""Each rule of the sink, broken on purpose, is convicted by a run; kept, it is acquitted.

The same program goes through the same play twice, once with the mistake and once with the real
sink. Real brokers, real Spark, one kill by onceproof at the moment that counts.
"""

import shlex
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from mistakes import MISTAKES, SINKS, Mistake

from onceproof.cluster.local import LocalCluster
from onceproof.history.run_directory import RunDirectory
from onceproof.history.verdict import TrialResult, Verdict
from onceproof.report.anomalies import EXPLANATIONS
from onceproof.trial.planning.plan import make_plan
from onceproof.trial.planning.request import Request
from onceproof.trial.run import run_trial
from onceproof.trial.spark import JudgeSpark

pytestmark = pytest.mark.jury
RECORDS = 1_280
SEEDS = range(1, 9)
CANNOT_BE_STAGED = "75"  # exit code, see sinks/choreography.py
PROGRAMS = {
    path.name: path for path in SINKS.glob("*.py") if "choreography.HONEST" in path.read_text()
}
ONE_KILL = """
description = "one kill, when the program stands still at its moment"
suspect = "command"
workload = "copy"
partitions = 4
expect = "HELD"

[[faults]]
action = "kill"
target = "instance:0"
at = "10%"
"""


class Court:
    def __init__(self, cluster: LocalCluster, spark: JudgeSpark, folder: Path) -> None:
        self._cluster = cluster
        self._spark = spark
        self._folder = folder

    def trial(
        self, name: str, mistake: Mistake, *arguments: str
    ) -> tuple[TrialResult, RunDirectory]:
        """Again under other seeds, and so on other topics, where the play cannot be staged."""
        for seed in SEEDS:
            result, directory = self._trial(name, mistake, arguments, seed)
            if not _could_not_be_staged(result):
                return result, directory
        pytest.fail(f"{name} could not be staged with any of the seeds {list(SEEDS)}")

    def _trial(
        self, name: str, mistake: Mistake, arguments: tuple[str, ...], seed: int
    ) -> tuple[TrialResult, RunDirectory]:
        scenario = self._folder / f"{Path(name).stem}.toml"
        scenario.write_text(ONE_KILL)
        request = Request(
            scenario=str(scenario),
            command=shlex.join([sys.executable, str(SINKS / name), *arguments]),
            seed=seed,
            records=RECORDS,
            bootstrap_server=self._cluster.bootstrap("suspects"),
            settings=(
                "transactional=true",
                "parallelism=2",
                "max_offsets_per_trigger=320",
                f"records_awaited={RECORDS}",
                f"lanes={mistake.lanes}",
                "small_batch_bytes=0",
                "small_lane_bytes=65536",
                "jvm=false",  # what they do wrong is written in Python
            ),
            runs_dir=self._folder / "runs",
        )
        plan = make_plan(request)
        # A command, but one that needs Spark's jars.
        plan = replace(plan, suspect=replace(plan.suspect, spark=True))
        return run_trial(plan, spark=self._spark)


def _could_not_be_staged(result: TrialResult) -> bool:
    return any(
        finding.anomaly == "died" and witness.facts["code"] == CANNOT_BE_STAGED
        for finding in result.findings
        for witness in finding.witnesses
    )


@pytest.fixture
def court(one_broker: LocalCluster, judge_spark: JudgeSpark, tmp_path: Path) -> Court:
    return Court(one_broker, judge_spark, tmp_path)


@pytest.mark.parametrize("name", MISTAKES)
def test_a_planted_mistake_of_the_sink_is_convicted(name: str, court: Court) -> None:
    result, _ = court.trial(name, MISTAKES[name])
    assert [fault.applied for fault in result.faults] == [True], result.faults
    assert result.verdict is Verdict.BROKEN, result.reasons
    assert tuple(finding.anomaly for finding in result.findings) == MISTAKES[name].anomalies


@pytest.mark.parametrize(
    "name", [name for name, mistake in MISTAKES.items() if not mistake.honest_anomalies]
)
def test_the_real_sink_is_acquitted_in_the_same_play(name: str, court: Court) -> None:
    result, _ = court.trial(name, MISTAKES[name], "honest")
    assert [fault.applied for fault in result.faults] == [True], result.faults
    assert result.verdict is Verdict.HELD, (result.reasons, result.findings)


def test_the_real_sink_stops_at_a_query_that_is_not_deterministic(court: Court) -> None:
    """It dies with a reason, and what it has written until then is right."""
    name = "skip_without_digest.py"
    result, directory = court.trial(name, MISTAKES[name], "honest")
    assert [fault.applied for fault in result.faults] == [True], result.faults
    assert tuple(finding.anomaly for finding in result.findings) == MISTAKES[name].honest_anomalies
    told = (directory.logs / "instance-0.log").read_text()
    assert "batch 1, lane 0: the replayed rows are not those that were committed" in told


def test_every_program_of_the_folder_stands_in_the_table_and_the_other_way_round() -> None:
    assert sorted(PROGRAMS) == sorted(MISTAKES)


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_says_in_its_first_words_what_it_is_to_be_convicted_of(name: str) -> None:
    anomalies = MISTAKES[name].anomalies
    assert set(anomalies) <= set(EXPLANATIONS)
    assert PROGRAMS[name].read_text().startswith(f'"""{" and ".join(anomalies)}: ')
