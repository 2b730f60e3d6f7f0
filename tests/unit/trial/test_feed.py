"""What of an iteration's input is written when: all of it, or the rest when the last fault is due.

Spark's own writing is tried on a real cluster; here it only notes what it was asked for.
"""

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from onceproof.deadline import Deadline, wait_until
from onceproof.errors import UsageError
from onceproof.trial import feed as feed_module
from onceproof.trial.feed import Feed
from onceproof.trial.planning.scenario import load_scenario, make_scenario

WAIT_S_MAX = 5.0
Slice = tuple[int, int]


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[Slice]:
    slices: list[Slice] = []

    def note(*words: Any, stop: threading.Event, **_: Any) -> None:
        if not stop.is_set():
            slices.append((words[3], words[4]))

    monkeypatch.setattr(feed_module, "inject", note)
    return slices


def feed(held_back_percent: int) -> Feed:
    scenario = load_scenario("chaos_loop").model_copy(
        update={"held_back_percent": held_back_percent}
    )
    plan = SimpleNamespace(scenario=scenario, input=None)
    cluster = SimpleNamespace(bootstrap=lambda _: "")
    stage: Any = SimpleNamespace(plan=plan, spark=None, cluster=cluster, input_topic="in")
    return Feed(stage, 128, 256)


def wait_for(feed: Feed) -> None:
    wait_until(feed.is_done, Deadline(WAIT_S_MAX), "it does not end")


def test_what_is_not_held_back_waits_for_nobody(written: list[Slice]) -> None:
    whole = feed(held_back_percent=0)
    whole.start()
    wait_for(whole)
    assert (whole.release(), written) == (0, [(128, 256)])


def test_what_is_held_back_comes_when_it_is_released(written: list[Slice]) -> None:
    held = feed(held_back_percent=10)
    held.start()
    wait_until(lambda: bool(written), Deadline(WAIT_S_MAX), "nothing is fed")
    assert (written, held.is_done()) == ([(128, 244)], False)
    assert (held.release(), held.release()) == (12, 0)
    wait_for(held)
    assert written == [(128, 244), (244, 256)]


def test_a_trial_that_ends_does_not_wait_for_what_is_held_back(written: list[Slice]) -> None:
    held = feed(held_back_percent=10)
    held.start()
    wait_until(lambda: bool(written), Deadline(WAIT_S_MAX), "nothing is fed")
    held.close()
    assert (held.is_done(), written) == (True, [(128, 244)])


def test_a_fault_that_would_wait_for_what_is_held_back_is_refused() -> None:
    scenario = load_scenario("chaos_loop").model_dump()
    assert make_scenario({**scenario, "held_back_percent": 50}).held_back_percent == 50
    with pytest.raises(UsageError, match="a fault is due at 50% of the input, and 51 % of it"):
        make_scenario({**scenario, "held_back_percent": 51})
