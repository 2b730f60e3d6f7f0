"""Programs: which there may be, what they become, and that a seed draws the same one again."""

import re

import pytest

from onceproof.errors import UsageError
from onceproof.faults.program import (
    feed_s_min,
    parse_program,
    program_faults,
    random_program,
    running_after,
)
from onceproof.faults.schedule import parse_schedule


def test_a_program_is_numbers_of_instances() -> None:
    assert parse_program(" 1 2  3 1", seed=1) == (1, 2, 3, 1)
    assert running_after((1, 2, 3, 1)) == [2, 3]


@pytest.mark.parametrize("text", ["", "0", "1 0 2", "1 two", "1,2", "-1", "17", "²", "1.5"])
def test_anything_else_is_told(text: str) -> None:
    with pytest.raises(UsageError, match=re.escape(f"got {text!r}")) as told:
        parse_program(text, seed=1)
    assert told.value.exit_code == 254


def test_a_program_must_leave_somebody_at_work_and_come_to_an_end() -> None:
    with pytest.raises(UsageError, match="ends with no instance running"):
        parse_program("1 2 2 1", seed=1)
    with pytest.raises(UsageError, match="at most 40 steps; got 41"):
        parse_program("1 " * 41, seed=1)


def test_the_steps_are_toggles_one_after_the_other() -> None:
    steps = parse_schedule(program_faults((1, 2, 1), "15 s"))
    assert [(step.actions, step.target, str(step.at)) for step in steps] == [
        (("toggle",), "instance:1", "0 s"),
        (("toggle",), "instance:2", "15 s"),
        (("toggle",), "instance:1", "30 s"),
    ]
    assert feed_s_min((1, 2, 1), "15 s") == 60


def test_or_after_shares_of_the_input() -> None:
    assert [fault["at"] for fault in program_faults((1, 2, 1), "25%")] == ["0%", "25%", "50%"]
    assert feed_s_min((1, 2, 1), "25%") == 0


@pytest.mark.parametrize("every", ["0 s", "recovery", "start", "0%", "10% written"])
def test_steps_come_after_a_time_or_a_share(every: str) -> None:
    with pytest.raises(UsageError, match=re.escape(f"got {every!r}")):
        program_faults((1, 2), every)


def test_a_program_must_end_within_its_input() -> None:
    with pytest.raises(UsageError, match="does not end within its input"):
        program_faults((1, 2, 3), "50%")


def test_a_seed_draws_its_program_and_each_leaves_somebody_at_work() -> None:
    drawn = [random_program(seed) for seed in range(200)]
    assert drawn == [random_program(seed) for seed in range(200)]
    assert len(set(drawn)) > 100
    assert all(running_after(program) for program in drawn)
    assert {number for program in drawn for number in program} == {1, 2, 3}
    assert parse_program("random", seed=7) == random_program(7)
