"""Waits until the suspect has processed what was fed, and tells slow, stuck and silent apart."""

import time
from collections.abc import Callable
from contextlib import suppress

from onceproof.cluster import topics
from onceproof.deadline import Deadline
from onceproof.errors import ClusterError, DeadlineExpired
from onceproof.trial.feed import Feed
from onceproof.trial.judging.standing import DrainEnd
from onceproof.trial.stage import Stage
from onceproof.trial.watch import Sample, SuspectDied, Watch
from onceproof.workloads.pace import Pace

AT_ONCE_PER_S = 10_000  # what is not paced, at the least
SETTLE_MARGIN_S = 15.0
FRESH_SAMPLE_S_MAX = 60.0
RECORDS_PER_SECOND_MIN = 5_000  # what a suspect is expected to manage on a large input


class Standstill:
    """Nothing moves for so long though something is left to do."""

    def __init__(self, limit_s: float, now: Callable[[], float] = time.monotonic) -> None:
        self._limit_s = limit_s
        self._now = now
        self._seen = (-1, -1, -1)
        self._since_s = now()

    def lasts(self, sample: Sample, up: int, *, is_fed: bool) -> bool:
        """`up`: how many instances say that they have started. Who has nothing left to do, or may
        have nothing left, waits for more, unless all has been fed.
        """
        moved = (sample.written, sample.processed, up)
        is_idle = sample.position is None or sample.caught_up()
        if moved != self._seen or (is_idle and not is_fed):
            self._seen, self._since_s = moved, self._now()
        return self._now() - self._since_s >= self._limit_s


def catch_up(stage: Stage, watch: Watch, feed: Feed) -> DrainEnd:
    """Wait for the feed and for the suspect, as long as anything moves."""
    scenario = stage.plan.scenario
    budget = Deadline(scenario.drain_s + feed.records / RECORDS_PER_SECOND_MIN)
    standstill = Standstill(scenario.stuck_after_s)

    def stands_still() -> bool:
        up = sum(instance.says_started for instance in stage.instances)
        return standstill.lasts(watch.last, up, is_fed=feed.is_done())

    def fed_or_still() -> bool:
        return feed.is_done() or stands_still()

    def over() -> bool:
        return stands_still() or (feed.is_done() and watch.last.caught_up())

    watch.until(fed_or_still, Deadline(feed_s_max(stage, feed)), "the input was not fed")
    # What was seen before the feed ended says nothing about its last records.
    watch.until(watch.sample, Deadline(FRESH_SAMPLE_S_MAX), "the brokers do not answer")
    try:
        watch.until(over, budget, "the suspect did not catch up")
    except DeadlineExpired:
        return DrainEnd.SLOW
    watch.sample()  # the last word on how long nothing has moved
    if feed.is_done() and watch.last.caught_up():
        return DrainEnd.CAUGHT_UP
    return DrainEnd.SILENT if watch.last.position is None else DrainEnd.STUCK


def look_on(stage: Stage, watch: Watch) -> None:
    """What comes of it that nothing moves, if the scenario has time for that: nobody is ended yet,
    so whatever is logged now is the suspect's own affair.
    """
    seconds = stage.plan.scenario.aftermath_s
    if seconds == 0:
        return
    stage.events.write("phase", "aftermath")
    with suppress(DeadlineExpired, SuspectDied):
        watch.until(lambda: False, Deadline(seconds), "it is over")


def feed_s_max(stage: Stage, feed: Feed) -> float:
    """Generous: a feed that fails says so itself, this only bounds one that hangs."""
    pace = stage.plan.scenario.pace() or Pace(AT_ONCE_PER_S)
    return 120.0 + 3 * pace.seconds_for(feed.records)


def settle(stage: Stage, watch: Watch) -> bool:
    """Until no transaction is open on the output any more; False if one still is."""

    def stable() -> bool:
        try:
            ends = topics.end_offsets(stage.client, stage.output_topic)
            return topics.stable_offsets(stage.client, stage.output_topic) == ends
        except ClusterError:
            return False

    seconds = stage.plan.scenario.transaction_timeout_ms / 1000 + SETTLE_MARGIN_S
    try:
        watch.until(stable, Deadline(seconds), "a transaction stays open on the output")
    except DeadlineExpired:
        return False
    return True
