"""The smallest schedule that still breaks: minimal, by k of n, and never half of a recovery."""

import itertools
import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onceproof.errors import UsageError
from onceproof.faults.shrink import Repeats, Subset, Trial, chains, ddmin, smallest
from onceproof.history.verdict import Verdict

BROKEN = Trial(verdict=Verdict.BROKEN, anomalies=("lost",))
HELD = Trial(verdict=Verdict.HELD)
UNKNOWN = Trial(verdict=Verdict.UNKNOWN, told="a fault did not apply")


def fault(at: str) -> dict[str, str]:
    return {"action": "kill", "target": "instance:0", "at": at}


def without_one(subset: Subset) -> list[Subset]:
    return list(itertools.combinations(subset, len(subset) - 1)) if subset else []


FLAT = [fault(f"{percent}%") for percent in range(10, 90, 10)]


@given(st.integers(1, 24).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.integers(0, n - 1)))))
def test_what_breaks_only_with_all_of_some_faults_shrinks_to_exactly_those(
    case: tuple[int, set[int]],
) -> None:
    count, needed = case
    faults = [fault("10%")] * count
    found = smallest(faults, lambda subset: needed <= set(subset))
    assert found == tuple(sorted(needed))


@given(st.sets(st.frozensets(st.integers(0, 7), max_size=3), min_size=1, max_size=5))
def test_no_fault_of_the_answer_can_be_left_out(causes: set[frozenset[int]]) -> None:
    """Several ways to break it; which one is found is open, that it is minimal is not."""

    def breaks(subset: Subset) -> bool:
        return any(cause <= set(subset) for cause in causes)

    found = smallest(FLAT, breaks)
    assert found is not None
    assert breaks(found)
    assert not any(map(breaks, without_one(found)))


@given(st.lists(st.booleans(), min_size=2**6, max_size=2**6))
def test_even_an_answer_out_of_any_order_is_one_minimal(answers: list[bool]) -> None:
    """A predicate that knows no order at all: fewer faults may break what more do not."""
    faults = FLAT[:6]

    def breaks(subset: Subset) -> bool:
        return len(subset) == 6 or answers[sum(1 << place for place in subset)]

    found = smallest(faults, breaks)
    assert found is not None
    assert breaks(found)
    assert not any(map(breaks, without_one(found)))


def test_a_schedule_that_does_not_break_has_no_smallest() -> None:
    assert smallest(FLAT, lambda _: False) is None


def test_the_empty_schedule_is_tried_first_and_is_an_answer() -> None:
    asked: list[Subset] = []

    def breaks(subset: Subset) -> bool:
        asked.append(subset)
        return True

    assert smallest(FLAT, breaks) == ()
    assert asked == [()]


def test_ddmin_asks_far_less_often_than_there_are_subsets() -> None:
    asked: set[Sequence[int]] = set()

    def breaks(subset: Sequence[int]) -> bool:
        asked.add(subset)
        return {3, 12} <= set(subset)

    assert ddmin(range(16), breaks) == (3, 12)
    assert len(asked) <= 25


RECOVERING = [
    fault("10%"),
    fault("recovery"),
    fault("recovery"),
    fault("30%"),
    fault("5 s"),
    fault("recovery"),
]


def test_a_recovery_belongs_to_the_fault_before_it() -> None:
    assert chains(RECOVERING) == [(0, 1, 2), (3,), (4, 5)]
    assert chains([fault("recovery"), fault("10%")]) == [(0,), (1,)]
    assert chains([]) == []


@given(st.sets(st.integers(0, 5)))
def test_no_recovery_is_ever_tried_without_what_it_recovers_from(needed: set[int]) -> None:
    before = {1: 0, 2: 1, 5: 4}

    def breaks(subset: Subset) -> bool:
        assert list(subset) == sorted(subset)
        assert all(before[place] in subset for place in subset if place in before)
        return needed <= set(subset)

    closed = needed | {0 for _ in needed & {1, 2}} | {1 for _ in needed & {2}}
    closed |= {4 for _ in needed & {5}}
    assert smallest(RECOVERING, breaks) == tuple(sorted(closed))


def test_the_end_of_a_chain_is_left_out_where_it_is_not_needed() -> None:
    assert smallest(RECOVERING[:2], lambda subset: 0 in subset) == (0,)
    assert smallest(RECOVERING[:3], lambda subset: 1 in subset) == (0, 1)


class Script:
    """Trials that end as written, one after the other, for each subset."""

    def __init__(self, *trials: Trial) -> None:
        self._trials = trials
        self.asked: list[Subset] = []

    def __call__(self, subset: Subset) -> Trial:
        self.asked.append(subset)
        return self._trials[self.asked.count(subset) - 1]


@pytest.mark.parametrize(
    ("trials", "breaks", "count"),
    [
        ((BROKEN, BROKEN), True, 2),  # two are enough
        ((HELD, HELD), False, 2),  # two can no longer be had
        ((HELD, BROKEN, BROKEN), True, 3),
        ((BROKEN, HELD, HELD), False, 3),
        ((UNKNOWN, BROKEN, BROKEN), True, 3),
        ((UNKNOWN, UNKNOWN), False, 2),
    ],
)
def test_k_of_n_ends_as_soon_as_it_is_decided(
    trials: tuple[Trial, ...], breaks: bool, count: int
) -> None:
    script = Script(*trials)
    repeats = Repeats(script, needed=2, repeats=3)
    assert repeats.breaks((0, 1)) is breaks
    assert script.asked == [(0, 1)] * count
    tally = repeats.tally((0, 1))
    assert (tally.broke, tally.of) == (trials.count(BROKEN), count)
    assert tally.untold == trials.count(UNKNOWN)
    assert (repeats.trials, repeats.untold) == (count, trials.count(UNKNOWN))


def test_what_was_answered_once_is_not_asked_again() -> None:
    script = Script(BROKEN)
    repeats = Repeats(script, needed=1, repeats=1)
    assert repeats.breaks((2,))
    assert repeats.breaks((2,))
    assert script.asked == [(2,)]


def test_anomalies_are_those_of_the_trials_that_broke() -> None:
    other = Trial(verdict=Verdict.BROKEN, anomalies=("lost", "duplicated"))
    repeats = Repeats(Script(HELD, other, BROKEN), needed=2, repeats=3)
    assert repeats.tally(()).anomalies == ("duplicated", "lost")
    assert not repeats.tally(()).agree
    assert Repeats(Script(BROKEN, BROKEN), needed=2, repeats=3).tally(()).agree


@pytest.mark.parametrize(("needed", "repeats"), [(0, 3), (4, 3), (1, 0)])
def test_more_cannot_be_needed_than_is_tried(needed: int, repeats: int) -> None:
    with pytest.raises(UsageError, match=f"got {needed} of {repeats}"):
        Repeats(Script(), needed=needed, repeats=repeats)


def shrunk_with_a_die(seed: int, *, needed: int, repeats: int) -> Subset | None:
    """Faults 2 and 5 together break it in three of four trials; nothing else ever does."""
    die = random.Random(seed)

    def attempt(subset: Subset) -> Trial:
        return BROKEN if {2, 5} <= set(subset) and die.random() < 0.75 else HELD

    tries = Repeats(attempt, needed=needed, repeats=repeats)
    return smallest(FLAT, tries.breaks)


def test_a_race_that_is_lost_now_and_then_is_still_found_by_k_of_n() -> None:
    exact = [shrunk_with_a_die(seed, needed=2, repeats=6) == (2, 5) for seed in range(200)]
    assert sum(exact) >= 180
    once = [shrunk_with_a_die(seed, needed=1, repeats=1) == (2, 5) for seed in range(200)]
    assert sum(once) < 150  # the same with one try each: repeats are what makes the difference


def test_a_flaky_answer_never_loses_what_is_needed() -> None:
    """A race can leave a fault too many in the answer, and never one too few."""
    for seed in range(200):
        found = shrunk_with_a_die(seed, needed=2, repeats=3)
        assert found is None or {2, 5} <= set(found)
