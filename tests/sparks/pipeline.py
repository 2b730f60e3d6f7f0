"""A user's program, with nothing but PySpark and the sink: it runs on every Spark we try.

    input topic ──▶ fold: count and max of each key, update mode ──▶ sink ──▶ <output>-fold
                ├─▶ state: the same of onceproof's own records   ──▶ sink ──▶ <output>-state
                └─▶ copy: the records as they are, append mode   ──▶ sink ──▶ <output>-copy

For each batch that the sink has written it prints a JSON line. SIGTERM ends it in order.
"""

import argparse
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator

import pandas as pd
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import StreamingQuery

from onceproof.sink import exactly_once_kafka

POLL_S = 0.2


def main() -> int:
    wanted = arguments()
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    session = start_session(wanted)
    say("session", spark=session.version)
    queries = [start(session, wanted, name) for name in wanted.pipelines.split(",")]
    while any(query.isActive for query in queries) and not stop.wait(POLL_S):
        if any(query.exception() for query in queries):
            break
    failures = [str(query.exception()) for query in queries if query.exception()]
    for query in queries:
        query.stop()
    session.stop()
    for failure in failures:
        sys.stderr.write(f"{failure}\n")
    say("ended", failures=len(failures))
    return 1 if failures else 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bootstrap", required=True)
    parser.add_argument("--input", required=True)
    parser.add_argument("--output", required=True, help="topics and sinks are <output>-<pipeline>")
    parser.add_argument("--checkpoint", required=True, help="a folder; one below it per pipeline")
    parser.add_argument("--master", required=True)
    parser.add_argument("--pipelines", default="fold,copy")
    parser.add_argument("--lanes", type=int, default=4)
    parser.add_argument("--small-lane-bytes", type=int, default=64 * 1024)
    parser.add_argument("--small-batch-bytes", type=int, default=0)
    parser.add_argument("--jvm", choices=["yes", "no"], default="no", help="who writes lanes")
    parser.add_argument("--batch-size", type=int, required=True, help="records of a micro-batch")
    parser.add_argument("--trigger", choices=["available-now", "micro-batches"], required=True)
    parser.add_argument("--conf", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument(
        "--slow-s", type=float, default=0.0, help="what partition 0 sleeps, in first attempts only"
    )
    return parser.parse_args()


def start_session(wanted: argparse.Namespace) -> SparkSession:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(wanted.master).appName(wanted.output)
    for setting in wanted.conf:
        name, _, value = setting.partition("=")
        builder = builder.config(name, value)
    session: SparkSession = builder.getOrCreate()
    session.sparkContext.setLogLevel("WARN")
    return session


def start(session: SparkSession, wanted: argparse.Namespace, name: str) -> StreamingQuery:
    transform, output_mode = PIPELINES[name]
    source = (
        session.readStream.format("kafka")
        .option("kafka.bootstrap.servers", wanted.bootstrap)
        .option("subscribe", wanted.input)
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", str(wanted.batch_size))
        .load()
        .select("key", "value", "offset")
    )
    if wanted.slow_s:
        source = source.mapInPandas(slow_first_attempt(wanted.slow_s), source.schema)
    trigger = (
        {"availableNow": True}
        if wanted.trigger == "available-now"
        else {"processingTime": "0 seconds"}
    )
    return (
        transform(source)
        .writeStream.outputMode(output_mode)
        .queryName(name)
        .option("checkpointLocation", f"{wanted.checkpoint}/{name}")
        .trigger(**trigger)
        .foreachBatch(told(wanted, name))
        .start()
    )


def told(wanted: argparse.Namespace, name: str) -> Callable[[DataFrame, int], None]:
    """The sink, and a line for each batch it has written."""
    sink = exactly_once_kafka(
        sink_id=f"{wanted.output}-{name}",
        topic=f"{wanted.output}-{name}",
        lanes=wanted.lanes,
        options={"kafka.bootstrap.servers": wanted.bootstrap},
        small_lane_bytes=wanted.small_lane_bytes,
        small_batch_bytes=wanted.small_batch_bytes,
        jvm=wanted.jvm == "yes",
    )

    def write(batch: DataFrame, batch_id: int) -> None:
        started = time.monotonic()
        sink(batch, batch_id)
        say(
            "batch",
            pipeline=name,
            batch=batch_id,
            rows=sum(report.rows for report in sink.last_reports),
            cut=sink.last_batch.cut if sink.last_batch else None,
            writer=sink.last_batch.writer if sink.last_batch else None,
            states=sorted({str(report.state) for report in sink.last_reports}),
            seconds=round(time.monotonic() - started, 2),
        )

    return write


def fold(source: DataFrame) -> DataFrame:
    numbers = source.select("key", F.col("value").cast("string").cast("long").alias("number"))
    folded = numbers.groupBy("key").agg(
        F.count(F.lit(1)).alias("count"), F.max("number").alias("max")
    )
    return folded.select("key", F.to_json(F.struct("count", "max")).alias("value"))


def state(source: DataFrame) -> DataFrame:
    """What onceproof's workload `fold` asks for."""
    record = F.from_json(F.col("value").cast("string"), "id string, seq long, value long")
    folded = (
        source.select(F.col("key").cast("string"), record.alias("record"), "offset")
        .groupBy("key")
        .agg(
            F.count(F.lit(1)).alias("count"),
            F.max("record.value").alias("max"),
            F.max_by("record.id", "offset").alias("id"),
        )
    )
    return folded.select("key", F.to_json(F.struct("key", "count", "max", "id")).alias("value"))


def copy(source: DataFrame) -> DataFrame:
    return source.select("key", "value")


def slow_first_attempt(
    seconds: float,
) -> Callable[[Iterator[pd.DataFrame]], Iterator[pd.DataFrame]]:
    def passed_on(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        context = TaskContext.get()
        assert context is not None
        if context.partitionId() == 0 and context.attemptNumber() == 0:
            time.sleep(seconds)
        yield from frames

    return passed_on


def say(event: str, **facts: object) -> None:
    sys.stdout.write(json.dumps({"event": event, **facts}) + "\n")
    sys.stdout.flush()


# name → (transformation, output mode)
PIPELINES = {"fold": (fold, "update"), "state": (state, "update"), "copy": (copy, "append")}

if __name__ == "__main__":
    sys.exit(main())
