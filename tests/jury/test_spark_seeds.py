"""Ten seeds of the crash loop: our sink holds each time, Spark's own is convicted. The long one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from onceproof.cluster.local import LocalCluster
from onceproof.history.verdict import TrialResult, Verdict
from onceproof.trial.planning.plan import make_plan
from onceproof.trial.planning.request import Request
from onceproof.trial.run import run_trial
from onceproof.trial.spark import JudgeSpark

pytestmark = [pytest.mark.jury, pytest.mark.timeout(3600)]
SEEDS = range(1, 11)
CONVICTED_MIN = 8
# How our sink writes; whole: all tasks, in one transaction.
WAYS = {"lanes": (), "whole": ("small_batch_bytes=16777216",)}


@pytest.fixture(scope="module")
def three_brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    folder: Path = tmp_path_factory.mktemp("brokers")
    with LocalCluster.start(directory=folder / "data", logs=folder, brokers=3) as cluster:
        yield cluster


def crash_loop(
    scenario: str,
    seed: int,
    cluster: LocalCluster,
    spark: JudgeSpark,
    folder: Path,
    *settings: str,
) -> TrialResult:
    request = Request(
        scenario=scenario,
        seed=seed,
        bootstrap_server=cluster.bootstrap("suspects"),
        settings=settings,
        runs_dir=folder / "runs",
    )
    return run_trial(make_plan(request), spark=spark)[0]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("way", WAYS)
def test_our_sink_holds_although_it_is_killed_in_open_transactions(
    way: str, seed: int, three_brokers: LocalCluster, judge_spark: JudgeSpark, tmp_path: Path
) -> None:
    result = crash_loop("tc02_crash_loop", seed, three_brokers, judge_spark, tmp_path, *WAYS[way])
    assert result.verdict is Verdict.HELD, (result.reasons, result.findings)
    assert [fault.applied for fault in result.faults] == [True] * 4
    assert all("transaction open" in fault.evidence for fault in result.faults)


def test_sparks_own_sink_is_convicted_of_duplicates(
    three_brokers: LocalCluster, judge_spark: JudgeSpark, tmp_path: Path
) -> None:
    results = [
        crash_loop("tc02_at_least_once", seed, three_brokers, judge_spark, tmp_path)
        for seed in SEEDS
    ]
    told = [(each.seed, each.verdict.value, each.reasons) for each in results]
    convicted = [
        each
        for each in results
        if each.verdict is Verdict.BROKEN
        and [finding.anomaly for finding in each.findings] == ["duplicated"]
    ]
    assert len(convicted) >= CONVICTED_MIN, told
    assert not [each for each in told if each[1] == "BROKEN" and "duplicated" not in str(each)], (
        told
    )
