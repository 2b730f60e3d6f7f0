"""The scenarios about offsets end as they say, on some seeds; their evidence has the numbers."""

import re
from pathlib import Path

import pytest

from onceproof.history.verdict import TrialResult, Verdict
from onceproof.trial.planning.plan import make_plan
from onceproof.trial.planning.request import Request
from onceproof.trial.run import run_trial
from onceproof.trial.spark import JudgeSpark

pytestmark = [pytest.mark.jury, pytest.mark.timeout(1200)]

SEEDS = range(1, 4)
LAGS = re.compile(
    r"LSO (\d+) and HWM (\d+), as its log shows; to a reader at (\d+) that is a lag of (\d+) as"
    r" read_committed(, of which none can be read)?, and of (\d+) as read_uncommitted"
)


def trial(scenario: str, seed: int, folder: Path, spark: JudgeSpark) -> TrialResult:
    plan = make_plan(Request(scenario=scenario, seed=seed, runs_dir=folder))
    result, _ = run_trial(plan, spark=spark)
    assert result.verdict is Verdict.HELD, result.reasons
    return result


@pytest.mark.parametrize("seed", SEEDS)
def test_the_two_lags_go_apart_and_come_together(
    seed: int, tmp_path: Path, judge_spark: JudgeSpark
) -> None:
    committed, aborted = trial("open_transaction_lag", seed, tmp_path, judge_spark).faults
    for fault in (committed, aborted):
        while_open, after = LAGS.finditer(fault.evidence)
        lso, hwm, position, read_committed, none, read_uncommitted = while_open.groups()
        assert (position, read_committed, none) == (lso, "0", None)
        assert int(read_uncommitted) == int(hwm) - int(lso) > 0
        ended_lso, ended_hwm, ended_position, ended_lag, _, ended_other = after.groups()
        assert (ended_lso, ended_lag, ended_position) == (ended_hwm, ended_other, position)
        assert int(ended_hwm) > int(hwm)  # at least by the marker
    assert ", of which none can be read" in aborted.evidence
    assert ", of which none can be read" not in committed.evidence


@pytest.mark.parametrize("seed", SEEDS)
def test_the_coordinator_moves_and_comes_back(
    seed: int, tmp_path: Path, judge_spark: JudgeSpark
) -> None:
    (fault,) = trial("coordinator_failover", seed, tmp_path, judge_spark).faults
    told = re.search(
        r"(__consumer_offsets-\d+) .* moved to broker (\d) .*; broker (\d), started again, leads"
        r" (__consumer_offsets-\d+) and answers for the group",
        fault.evidence,
    )
    assert told is not None, fault.evidence
    log, heir, back, same_log = told.groups()
    assert log == same_log
    assert fault.target == f"broker {back} (group coordinator)"
    assert heir != back
