"""The pace of a feed: which slice of the plan is due by now. Pure arithmetic on a clock."""

import time
from collections.abc import Callable
from dataclasses import dataclass

TICK_S = 1.0


@dataclass(frozen=True)
class Pace:
    """So many records a second, and with bursts so many more at once every so many seconds."""

    records_per_second: float
    burst_records: int = 0
    burst_every_s: float = 1.0

    def due(self, seconds: float) -> int:
        """How many records after so many seconds; the first burst ends the first period."""
        bursts = int(seconds / self.burst_every_s)
        return int(seconds * self.records_per_second) + bursts * self.burst_records

    def seconds_for(self, records: int) -> float:
        """About how long so many take."""
        return records / (self.records_per_second + self.burst_records / self.burst_every_s)


class PacedSlices:
    """Which slice is due by now. Late ticks are caught up with: the pace is kept on the average."""

    def __init__(
        self,
        from_index: int,
        to_index: int,
        pace: Pace | None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._from = self._next = from_index
        self._to = to_index
        self._pace = pace
        self._now = now
        self._began = now()
        self._ticks = 0

    @property
    def written(self) -> int:
        """Records handed out so far."""
        return self._next - self._from

    def next_slice(self) -> tuple[int, int] | None:
        """The slice due now, perhaps empty; None when all has been handed out."""
        if self._next >= self._to:
            return None
        self._ticks = int((self._now() - self._began) / TICK_S) + 1
        start, self._next = self._next, self._due()
        return start, self._next

    def _due(self) -> int:
        if self._pace is None:
            return self._to
        return min(self._to, self._from + self._pace.due(self._ticks * TICK_S))

    def wait_s(self) -> float:
        """How long until the next tick; nothing if all has been handed out."""
        if self._next >= self._to:
            return 0.0
        return max(0.0, self._began + self._ticks * TICK_S - self._now())
