"""Waits until the suspect has processed what was fed, and tells slow, stuck and silent apart.

CAUGHT_UP   its position is at the end of the input
SILENT      it keeps no position that we can read, and its output stands still
STUCK       its position is short of the end, and nothing moves
SLOW        things still move, but the time is over: nothing can be said of what is missing
"""

from contextlib import suppress
from enum import StrEnum

from onceproof.cluster import topics
from onceproof.deadline import Deadline
from onceproof.errors import ClusterError, DeadlineExpired
from onceproof.trial.feed import Feed
from onceproof.trial.stage import Stage
from onceproof.trial.watch import SuspectDied, Watch
from onceproof.workloads.pace import Pace

AT_ONCE_PER_S = 10_000  # what is not paced, at the least
SETTLE_MARGIN_S = 15.0
FRESH_SAMPLE_S_MAX = 60.0
RECORDS_PER_SECOND_MIN = 5_000  # what a suspect is expected to manage on a large input


class DrainEnd(StrEnum):
    CAUGHT_UP = "caught up"
    SILENT = "silent"
    STUCK = "stuck"
    SLOW = "slow"


def catch_up(stage: Stage, watch: Watch, feed: Feed) -> DrainEnd:
    """Wait for the feed and then for the suspect, as long as anything moves."""
    scenario = stage.plan.scenario
    budget = Deadline(scenario.drain_s + feed.records / RECORDS_PER_SECOND_MIN)
    seen = (-1, -1, -1)
    quiet = Deadline(scenario.stuck_after_s)

    def over() -> bool:
        nonlocal seen, quiet
        sample = watch.last
        up = sum(instance.says_started for instance in stage.instances)
        moved = (sample.written, sample.processed, up)
        if moved != seen or not feed.is_done():
            seen, quiet = moved, Deadline(scenario.stuck_after_s)
        return (feed.is_done() and sample.caught_up()) or quiet.expired()

    watch.until(feed.is_done, Deadline(feed_s_max(stage, feed)), "the input was not fed")
    # What was seen before the feed ended says nothing about its last records.
    watch.until(watch.sample, Deadline(FRESH_SAMPLE_S_MAX), "the brokers do not answer")
    try:
        watch.until(over, budget, "the suspect did not catch up")
    except DeadlineExpired:
        return DrainEnd.SLOW
    watch.sample()  # the last word on how long nothing has moved
    if watch.last.caught_up():
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
