"""Writes a slice of the plan to the input topic with Spark's Kafka sink: as one burst, or paced.

    plan [from, to) ──cut by the clock, about one piece a second──▶ generate ──▶ input topic

It says what it meant to write. What was fed is what the topic holds when it is read back.
"""

import threading
import time
from collections.abc import Callable, Mapping

from pyspark.sql import SparkSession

from onceproof.deadline import pause
from onceproof.workloads.input_plan import InputPlan
from onceproof.workloads.workload import Workload

TICK_S = 1.0
LOOK_EVERY_S = 0.05  # how soon a paced feed notices that it must stop

# The order within a key must survive retries: a fault may take brokers away while we feed.
PRODUCER_OPTIONS: Mapping[str, str] = {
    "kafka.acks": "all",
    "kafka.enable.idempotence": "true",
    "kafka.linger.ms": "5",
    "kafka.batch.size": "131072",
    "kafka.compression.type": "lz4",
}


def inject(
    spark: SparkSession,
    workload: Workload,
    plan: InputPlan,
    from_index: int,
    to_index: int,
    *,
    topic: str,
    options: Mapping[str, str],
    records_per_second: float | None = None,
    stop: threading.Event | None = None,
    on_progress: Callable[[int], None] | None = None,
    tasks: int | None = None,
) -> int:
    """Write records [from_index, to_index); returns how many, fewer only if `stop` was set.

    `options` lead to the brokers (kafka.bootstrap.servers, security); `on_progress` hears the
    number of records written so far.
    """
    stopped = stop or threading.Event()
    clock = PacedSlices(from_index, to_index, records_per_second)
    while not stopped.is_set():
        piece = clock.next_slice()
        if piece is None:
            break
        start, end = piece
        if end > start:
            records = workload.generate(spark, plan, start, end, tasks)
            settings = {**PRODUCER_OPTIONS, **options, "topic": topic}
            records.write.format("kafka").options(**settings).save()
            if on_progress is not None:
                on_progress(clock.written)
        _wait_for(clock, stopped)
    return clock.written


def _wait_for(clock: "PacedSlices", stopped: threading.Event) -> None:
    while not stopped.is_set() and clock.wait_s() > 0:
        pause(min(LOOK_EVERY_S, clock.wait_s()))


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
