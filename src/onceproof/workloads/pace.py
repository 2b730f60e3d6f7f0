"""The pace of a feed: which slice of the plan is due by now. Pure arithmetic on a clock."""

import time
from collections.abc import Callable

TICK_S = 1.0


class PacedSlices:
    """Which slice is due by now. Late ticks are caught up with: the pace is kept on the average."""

    def __init__(
        self,
        from_index: int,
        to_index: int,
        records_per_second: float | None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._from = self._next = from_index
        self._to = to_index
        self._rate = records_per_second
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
        if self._rate is None:
            return self._to
        return min(self._to, self._from + int(self._ticks * TICK_S * self._rate))

    def wait_s(self) -> float:
        """How long until the next tick; nothing if all has been handed out."""
        if self._next >= self._to:
            return 0.0
        return max(0.0, self._began + self._ticks * TICK_S - self._now())
