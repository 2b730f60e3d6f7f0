"""The fixed cost of a small batch: the time spent inside the sink's call for 100 rows.

    100 rows a trigger, back to back ──▶ foreachBatch ──▶ [ ours, 4 lanes | ours, 1 lane | Spark's ]
                                                           └────────────── timed ──────────────┘

Spark's own is `df.write.format("kafka")` of the same rows. The variants take turns, a query each;
the first round and the first batches of a query are not counted, for they pay for compilers and
starts; only the very first batch of a query has a column of its own. Rows come from a topic;
with `--source rate` from Spark's generator, whose partitions the sink cannot know to be stable.

    python bench/sink_small_batches.py [--batches 40] [--rounds 3] [--pause-ms 0] [--source kafka]
"""

import argparse
import statistics
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from pyspark.sql import DataFrame
from sink_stage import Stage, percentile, say, sink_stage, slowest_lanes, table

from onceproof.sink import ExactlyOnceKafka, exactly_once_kafka

ROWS = 100
WARM_UP_BATCHES = 5
QUERY_S_MAX = 600.0
Write = Callable[[DataFrame, int], object]


@dataclass(kw_only=True)
class Meter:
    """Calls `write` for the first `batches` batches, and lets all later ones pass."""

    write: Write
    batches: int
    call_ms: list[float] = field(default_factory=list)
    lane_ms: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    done: threading.Event = field(default_factory=threading.Event)

    def __call__(self, batch: DataFrame, batch_id: int) -> None:
        if self.done.is_set():
            return
        began = time.perf_counter()
        self.write(batch, batch_id)
        self.call_ms.append((time.perf_counter() - began) * 1000)
        if isinstance(self.write, ExactlyOnceKafka) and len(self.call_ms) > WARM_UP_BATCHES:
            for step, ms in slowest_lanes(self.write).items():
                self.lane_ms[step].append(ms)
        if len(self.call_ms) == self.batches:
            self.done.set()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batches", type=int, default=40, help="of each query")
    parser.add_argument("--rounds", type=int, default=3, help="counted rounds, after a warm one")
    parser.add_argument("--pause-ms", type=int, default=0, help="trigger interval; 0: at once")
    parser.add_argument("--source", choices=["kafka", "rate"], default="kafka")
    asked = parser.parse_args()
    meters: dict[str, list[Meter]] = defaultdict(list)
    with sink_stage("local[4]") as stage:
        # Batches go on while a query is being stopped: twice as many records as it needs.
        stage.feed("in", records=2 * ROWS * asked.batches, record_bytes=100, keys=ROWS)
        for number in range(asked.rounds + 1):
            for name, write in variants(stage, number):
                meter = Meter(write=write, batches=asked.batches)
                run(rows_of(stage, asked.source), meter, asked.pause_ms)
                if number > 0:
                    meters[name].append(meter)
                say(f"round {number}, {name}: {statistics.median(meter.call_ms):.0f} ms")
    report(meters)


def variants(stage: Stage, number: int) -> Iterator[tuple[str, Write]]:
    options = stage.client_options()
    topic = stage.new_topic(f"out-{number}")

    def spark_own(batch: DataFrame, _batch_id: int) -> None:
        batch.write.format("kafka").options(**options, topic=topic).save()

    yield "Spark's own", spark_own
    for lanes in (4, 1):
        sink = exactly_once_kafka(
            sink_id=f"small-{number}-{lanes}", topic=topic, lanes=lanes, options=options
        )
        yield f"ours, {lanes} lane{'s' * (lanes > 1)}", sink


def rows_of(stage: Stage, source: str) -> DataFrame:
    if source == "kafka":
        return stage.read("in", maxOffsetsPerTrigger=ROWS).select("key", "value")
    generated = stage.spark.readStream.format("rate-micro-batch").option("rowsPerBatch", ROWS)
    return generated.load().selectExpr("CAST(value AS STRING) AS key", "repeat('x', 92) AS value")


def run(rows: DataFrame, meter: Meter, pause_ms: int) -> None:
    query = (
        rows.writeStream.foreachBatch(meter).trigger(processingTime=f"{pause_ms} milliseconds")
    ).start()
    deadline = time.monotonic() + QUERY_S_MAX
    while not meter.done.wait(0.2):
        failure = query.exception()
        if failure is not None or time.monotonic() > deadline:
            raise SystemExit(f"only {len(meter.call_ms)} batches; {failure or 'too slow'}")
    query.stop()


def report(meters: dict[str, list[Meter]]) -> None:
    rows = []
    for name, runs in meters.items():
        warm = [ms for run in runs for ms in run.call_ms[WARM_UP_BATCHES:]]
        first = statistics.median(run.call_ms[0] for run in runs)
        figures = (statistics.median(warm), percentile(warm, 90), max(warm), first)
        slow = sum(ms > 400 for ms in warm)
        rows.append([name, len(warm), *(f"{figure:.0f}" for figure in figures), slow])
    table(
        f"**{ROWS} rows a batch, local[4]**, milliseconds inside the sink's call",
        ["variant", "batches", "median", "p90", "max", "first of a query", "over 400 ms"],
        rows,
    )
    for name, runs in meters.items():
        steps: dict[str, list[float]] = defaultdict(list)
        for run in runs:
            for step, values in run.lane_ms.items():
                steps[step] += values
        if steps:
            _report_steps(name, steps)


def _report_steps(name: str, steps: dict[str, list[float]]) -> None:
    table(
        f"**{name}**: the slowest lane's milliseconds by step, as its reports tell them",
        ["step", "median", "p90", "max"],
        [
            [step, *(f"{figure:.0f}" for figure in _spread(values))]
            for step, values in steps.items()
        ],
    )


def _spread(values: list[float]) -> tuple[float, float, float]:
    return statistics.median(values), percentile(values, 90), max(values)


if __name__ == "__main__":
    main()
