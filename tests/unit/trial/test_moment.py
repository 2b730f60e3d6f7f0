"""A fault comes at its moment, and only where it finds work."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from onceproof.deadline import Deadline
from onceproof.errors import DeadlineExpired, FaultError
from onceproof.faults.schedule import Moment, parse_moment
from onceproof.trial.moments.moment import Moments
from onceproof.trial.watch import Sample

FEED_S_MAX = 9.0


def sample(*, fed: int, position: int | None, written: int = 0) -> Sample:
    at = None if position is None else {0: position}
    return Sample(input={0: fed}, output={0: written}, position=at)


class MadeUpWatch:
    """Each turn brings the next sample; without any left, the time is over."""

    def __init__(self, first: Sample, *later: Sample) -> None:
        self.last = first
        self._later: Iterator[Sample] = iter(later)
        self.waited_s = 0.0

    def until(self, condition: Callable[[], bool], deadline: Deadline, message: str) -> None:
        self.waited_s = deadline.seconds
        while not condition():
            following = next(self._later, None)
            if following is None:
                raise DeadlineExpired(message)
            self.last = following

    def sample(self) -> bool:
        self.last = next(self._later, self.last)
        return True


class MadeUpFeed:
    records = 100

    def __init__(self, *, done: bool = False, error: Exception | None = None) -> None:
        self.done, self._error = done, error

    def is_done(self) -> bool:
        if self._error is not None:
            raise self._error
        return self.done


def moments(watch: MadeUpWatch, feed: MadeUpFeed | None = None) -> Moments:
    made: Any = (watch, feed or MadeUpFeed(), FEED_S_MAX)
    return Moments(*made)


def wait(text: str, watch: MadeUpWatch, feed: MadeUpFeed | None = None) -> None:
    moments(watch, feed).wait_for(parse_moment(text), None)


def test_shares_are_of_this_iterations_input() -> None:
    """100 records were through before it: 30 % are 130."""
    watch = MadeUpWatch(
        sample(fed=100, position=100),
        sample(fed=200, position=129),
        sample(fed=200, position=130),
        sample(fed=200, position=190),
    )
    wait("30%", watch)
    assert watch.last.processed == 130
    assert watch.waited_s == 180.0 + FEED_S_MAX


def test_written_output_counts_whether_or_not_it_is_committed() -> None:
    watch = MadeUpWatch(
        sample(fed=100, position=100, written=100),
        sample(fed=200, position=100, written=159),
        sample(fed=200, position=100, written=160),
    )
    wait("60% written", watch)
    assert watch.last.written == 160


def test_a_moment_that_never_comes_is_told() -> None:
    still = sample(fed=100, position=10)
    with pytest.raises(DeadlineExpired, match="the moment 50% was not reached"):
        wait("50%", MadeUpWatch(still, still))


def test_a_feed_that_failed_ends_the_wait_with_its_error() -> None:
    with pytest.raises(ZeroDivisionError):
        wait("50%", MadeUpWatch(sample(fed=0, position=0)), MadeUpFeed(error=ZeroDivisionError()))


def test_a_fault_must_hit_work() -> None:
    through = sample(fed=100, position=100)
    assert moments(MadeUpWatch(through)).require_work(parse_moment("90%")) == ""  # more is fed
    fed = MadeUpFeed(done=True)
    for text in ("90%", "recovery"):
        with pytest.raises(FaultError, match="processed everything already: nothing was hit"):
            moments(MadeUpWatch(through), fed).require_work(parse_moment(text))


def test_what_was_seen_last_is_looked_at_again() -> None:
    """It may have caught up since the last sample."""
    watch = MadeUpWatch(sample(fed=100, position=90), sample(fed=100, position=100))
    with pytest.raises(FaultError, match="nothing was hit"):
        moments(watch, MadeUpFeed(done=True)).require_work(parse_moment("80%"))


def test_a_recovery_tells_what_was_still_to_be_done() -> None:
    told = moments(MadeUpWatch(sample(fed=100, position=40))).require_work(Moment(recovery=True))
    assert told == "60 records were still to be caught up"


def test_before_the_feed_there_is_nothing_to_wait_for() -> None:
    watch = MadeUpWatch(sample(fed=100, position=100))
    before = moments(watch, MadeUpFeed(done=True))
    before.wait_for(Moment(start=True), None)
    assert before.require_work(Moment(start=True)) == "before this iteration's feed"
