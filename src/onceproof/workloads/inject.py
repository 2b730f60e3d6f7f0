"""Writes a slice of the plan to the input topic with Spark's Kafka sink: as one burst, or paced.

    plan [from, to) ──cut by the clock, about one piece a second──▶ generate ──▶ input topic

It says what it meant to write. What was fed is what the topic holds when it is read back.
"""

import threading
from collections.abc import Callable, Mapping

from pyspark.sql import SparkSession

from onceproof.deadline import pause
from onceproof.workloads.input_plan import InputPlan
from onceproof.workloads.pace import Pace, PacedSlices
from onceproof.workloads.workload import Workload

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
    pace: Pace | None = None,
    stop: threading.Event | None = None,
    on_progress: Callable[[int], None] | None = None,
    tasks: int | None = None,
) -> int:
    """Write records [from_index, to_index); returns how many, fewer only if `stop` was set.

    `options` lead to the brokers (kafka.bootstrap.servers, security); `on_progress` hears the
    number of records written so far.
    """
    stopped = stop or threading.Event()
    clock = PacedSlices(from_index, to_index, pace)
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


def _wait_for(clock: PacedSlices, stopped: threading.Event) -> None:
    while not stopped.is_set() and clock.wait_s() > 0:
        pause(min(LOOK_EVERY_S, clock.wait_s()))
