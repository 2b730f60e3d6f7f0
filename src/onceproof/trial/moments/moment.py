"""The moments of one iteration: waits for each, and tells whether a fault still finds work then."""

from onceproof.deadline import Deadline
from onceproof.errors import FaultError
from onceproof.faults.schedule import Moment
from onceproof.faults.victim import Victim
from onceproof.suspects.instance import Instance
from onceproof.trial.feed import Feed
from onceproof.trial.watch import Watch

MOMENT_S_MAX = 180.0
SAYS_STARTED_S_MAX = 30.0
SILENT_START_S = 2.0  # longer, and a quick suspect that says nothing would have caught up


class Moments:
    def __init__(self, watch: Watch, feed: Feed, feed_s_max: float) -> None:
        self._watch = watch
        self._feed = feed
        self._wait_s_max = MOMENT_S_MAX + feed_s_max
        self._began = Deadline(MOMENT_S_MAX)
        self._processed_before = watch.last.processed
        self._written_before = watch.last.written

    def begin(self) -> None:
        """The feed has begun: seconds count from now."""
        self._began = Deadline(MOMENT_S_MAX)

    def wait_for(self, moment: Moment, last_victim: Victim | None) -> None:
        if moment.start:
            return
        if moment.recovery:
            self.wait_for_recovery(last_victim)
            return
        self._watch.until(
            lambda: self._is_reached(moment),
            Deadline(self._wait_s_max),
            f"the moment {moment} was not reached",
        )

    def wait_for_recovery(self, victim: Victim | None) -> None:
        """The instance that was hit is up again; one that says nothing gets its time to start."""
        if not isinstance(victim, Instance):
            return
        ready = Deadline(SAYS_STARTED_S_MAX if victim.speaks else SILENT_START_S)
        self._watch.until(
            lambda: victim.says_started or ready.expired(), Deadline(MOMENT_S_MAX), "not started"
        )

    def require_work(self, moment: Moment) -> str:
        """What was left to do at that moment; FaultError where nothing was: a fault must hit
        work.
        """
        if moment.start:
            return "before this iteration's feed"
        self._watch.sample()
        remaining = self._watch.last.remaining
        if self.is_over() or (moment.recovery and remaining == 0):
            raise FaultError("the suspect had processed everything already: nothing was hit")
        return f"{remaining} records were still to be caught up" if moment.recovery else ""

    def is_over(self) -> bool:
        """No output will come any more."""
        return self._feed.is_done() and self._watch.last.caught_up()

    def _is_reached(self, moment: Moment) -> bool:
        if moment.seconds is not None:
            return self._began.elapsed_s() >= moment.seconds
        self._feed.is_done()  # a failed feed ends the wait with its error
        if moment.written is not None:
            written = self._watch.last.written - self._written_before
            return written >= moment.written * self._feed.records
        assert moment.progress is not None
        done = self._watch.last.processed - self._processed_before
        return done >= moment.progress * self._feed.records
