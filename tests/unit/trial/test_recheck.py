"""What a run that is judged again was judged by: whatever was missing then is missing still."""

import json
from dataclasses import asdict

import pytest

from onceproof.history.fault_record import FaultRecord
from onceproof.history.verdict import TrialResult, Verdict
from onceproof.trial.judging.judge import Besides, CaseFacts
from onceproof.trial.judging.recheck import read_case

FACTS = CaseFacts(
    workload="copy", transactional=True, checks=("lost",), stuck_after_s=15.0, settled=True
)
BESIDES = Besides(
    doubts=("a point could not be looked at",), no_truth=(), faults_scheduled=8, fed_expected=6400
)
STORED = TrialResult(
    scenario="s",
    suspect="c",
    workload="copy",
    seed=1,
    verdict=Verdict.UNKNOWN,
    counts={"input": 3200},
    faults=(FaultRecord(action="kill", target="instance 0", at_s=1.0, applied=True),) * 4,
)


def test_what_was_to_be_done_is_remembered_not_only_what_was() -> None:
    """Four of eight faults, half of the input: no data tells, and it was not HELD for that."""
    stored = json.loads(json.dumps({**FACTS.to_json(), **asdict(BESIDES)}))
    assert read_case(stored, STORED) == (FACTS, BESIDES)


def test_an_older_run_does_not_say_it() -> None:
    older = {**FACTS.to_json(), "doubts": [], "no_truth": ["the input repeats an id"]}
    _, besides = read_case(older, STORED)
    assert besides == Besides(
        no_truth=("the input repeats an id",), faults_scheduled=4, fed_expected=3200
    )


def test_one_of_another_onceproof_is_not_guessed_at() -> None:
    with pytest.raises(TypeError, match="moons"):
        read_case({**FACTS.to_json(), "moons": 2}, STORED)
