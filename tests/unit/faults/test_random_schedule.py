"""Random schedules: the same for the same seed, and each one that can be carried out."""

import itertools

import pytest

from onceproof.errors import UsageError
from onceproof.faults.random_schedule import FAULTS_MAX, Reach, random_faults
from onceproof.faults.schedule import parse_schedule
from onceproof.faults.wire_aim import WireAim

OURS = Reach(
    instances=2, brokers=3, frames=("Produce", "EndTxn"), transaction_timeout_s=10.0, network=True
)
FOREIGN = Reach(instances=2, brokers=0, transaction_timeout_s=10.0)
SEEDS = range(300)


def test_the_same_seed_gives_the_same_schedule_and_another_seed_another() -> None:
    assert random_faults(7, 6, OURS) == random_faults(7, 6, OURS)
    assert len({str(random_faults(seed, 6, OURS)) for seed in SEEDS}) == len(SEEDS)


def test_a_seed_means_the_same_schedule_for_ever() -> None:
    """A repeat command of last year must still ask for the same."""
    assert random_faults(3, 3, OURS) == [
        {
            "action": "kill",
            "target": "instance:1",
            "aim": "at_once",
            "heal_after_s": 3.0,
            "at": "5%",
        },
        {
            "action": "pause",
            "target": "instance:1",
            "aim": "EndTxn request",
            "release": "pass",
            "heal_after_s": 1.0,
            "at": "30%",
        },
        {
            "action": "kill",
            "target": "instance:1",
            "aim": "EndTxn response",
            "release": "drop",
            "heal_after_s": 1.0,
            "at": "recovery",
        },
    ]


@pytest.mark.parametrize("reach", [OURS, FOREIGN])
@pytest.mark.parametrize("count", [1, 6, FAULTS_MAX])
def test_every_schedule_can_be_carried_out(reach: Reach, count: int) -> None:
    for seed in SEEDS:
        steps = parse_schedule(random_faults(seed, count, reach))
        assert len(steps) == count
        assert not steps[0].at.recovery
        moments = [step.at.progress for step in steps if step.at.progress is not None]
        assert moments == sorted(moments)
        for before, step in itertools.pairwise(steps):
            if step.at.recovery:
                assert before.target.startswith("instance:")


def test_an_instance_that_was_just_hit_is_up_again_before_the_next_fault_at_that_moment() -> None:
    for seed in SEEDS:
        faults = random_faults(seed, FAULTS_MAX, OURS)
        for before, after in itertools.pairwise(faults):
            if before["target"].startswith("instance:"):
                assert after["at"] != before["at"] or after["at"] == "recovery", faults


def test_only_what_there_is_can_be_hit() -> None:
    every = [step for seed in SEEDS for step in parse_schedule(random_faults(seed, 8, OURS))]
    assert {step.target for step in every} >= {
        *("instance:0", "instance:1", "instance:random"),
        *("broker:1", "broker:2", "broker:3", "broker:random", "broker:controller"),
    }
    assert "instance:2" not in {step.target for step in every}
    assert {action for step in every for action in step.actions} >= {
        *("kill", "pause", "stop", "restart", "slow", "cut")
    }
    aimed = {step.aim.api for step in every if isinstance(step.aim, WireAim)}
    assert aimed == {"Produce", "EndTxn"}


def test_a_cluster_that_is_not_ours_gets_faults_on_instances_only() -> None:
    every = [step for seed in SEEDS for step in parse_schedule(random_faults(seed, 8, FOREIGN))]
    assert not any(step.hits_brokers or step.needs_wire for step in every)


def test_one_broker_has_no_other_to_be_hit() -> None:
    reach = Reach(instances=1, brokers=1, transaction_timeout_s=10.0)
    every = [step for seed in SEEDS for step in parse_schedule(random_faults(seed, 8, reach))]
    assert not {step.target for step in every} & {"broker:2", "broker:3", "instance:1"}


@pytest.mark.parametrize("count", [0, -1, FAULTS_MAX + 1])
def test_a_number_of_faults_that_makes_no_sense_is_refused(count: int) -> None:
    with pytest.raises(UsageError, match=f"from 1 to {FAULTS_MAX}; got {count}"):
        random_faults(1, count, OURS)
