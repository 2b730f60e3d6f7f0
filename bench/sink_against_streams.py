"""The whole pipeline with our sink against Kafka Streams `exactly_once_v2`: read, fold, write.

                 ┌─▶ Spark: groupBy(key).agg(count, max), RocksDB state ──▶ our sink ──▶ out
    input topic ─┤
                 └─▶ Streams: groupByKey().aggregate(…), RocksDB store ────────────────▶ out

Same cluster, same input, 4 partitions, two threads each, lz4 for what they write; one after the
other, in turn, each a cold process that keeps the JVM's own compiler flags.

What is counted: how much of the input is committed, over time. For Streams the group's committed
offsets, asked for every 50 ms; for Spark the ends of its micro-batches.
    steady       records between 25 % and 100 % of the input, by the time between those points
    from first   the same from the first commit on
    whole        seconds from the start of the process to 100 %
The fair figure is `steady`: before it, both compile. At the end each output must hold every key
with its last count: the counts must sum up to the input.

    python bench/sink_against_streams.py [--records 4000000] [--keys 1000 1000000] [--rounds 2]
"""

import argparse
import contextlib
import statistics
from collections.abc import Callable, Iterator
from pathlib import Path

from fold_courses import Course, Order, run_spark, run_streams
from pyspark.sql import functions as F
from sink_stage import (
    PARTITIONS,
    Stage,
    say,
    scratch_directory,
    spark_session,
    table,
    three_brokers,
)

from onceproof.cluster import topics
from onceproof.cluster.local import LocalCluster

RECORD_BYTES = 100
ENGINES: dict[str, Callable[[Order], Course]] = {
    "Kafka Streams": run_streams,
    "Spark with our sink": run_spark,
}


def main() -> None:
    asked = arguments()
    with scratch_directory() as scratch, three_brokers(scratch) as cluster:
        with brief_stage(cluster, scratch) as stage:
            for keys in asked.keys:
                stage.feed(
                    f"in-{keys}", records=asked.records, record_bytes=RECORD_BYTES, keys=keys
                )
        for keys in asked.keys:
            compare(cluster, scratch, keys, asked)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=4_000_000)
    parser.add_argument("--keys", nargs="+", type=int, default=[1_000, 1_000_000])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--threads", type=int, default=2, help="of each engine")
    parser.add_argument("--lanes", type=int, default=2)
    parser.add_argument("--batch-records", type=int, default=500_000, help="of Spark's batches")
    parser.add_argument("--commit-ms", type=int, default=1_000, help="of Streams")
    parser.add_argument(
        "--cache-mb", type=int, default=10, help="of Streams' stores; 10 is its default"
    )
    return parser.parse_args()


@contextlib.contextmanager
def brief_stage(cluster: LocalCluster, scratch: Path) -> Iterator[Stage]:
    """A Spark session of ours, gone again before anything is measured."""
    with spark_session("local[2]", scratch) as (session, pid):
        yield Stage(cluster=cluster, spark=session, scratch=scratch, jvm_pid=pid)


def compare(cluster: LocalCluster, scratch: Path, keys: int, asked: argparse.Namespace) -> None:
    courses: dict[str, list[Course]] = {name: [] for name in ENGINES}
    outputs: list[str] = []
    for number in range(asked.rounds):
        for name, run in ENGINES.items():
            outputs.append(f"out-{keys}-{number}-{len(outputs)}")
            topics.create_topic(cluster.client(), outputs[-1], partitions=PARTITIONS)
            order = Order(
                cluster=cluster,
                scratch=scratch / outputs[-1],
                input=f"in-{keys}",
                output=outputs[-1],
                records=asked.records,
                asked=asked,
            )
            order.scratch.mkdir()
            course = run(order)
            courses[name].append(course)
            say(
                f"{keys} keys, round {number}, {name}: {course.rate_from(0.25):,.0f}/s steady,"
                f" {course.whole_s():.1f} s whole; {course.note}"
            )
    with brief_stage(cluster, scratch) as stage:
        check(stage, outputs, asked.records)
    report(keys, asked, courses)


def check(stage: Stage, outputs: list[str], records: int) -> None:
    """Each output's last counts sum up to the input: all of them did the same work, once."""
    for output in outputs:
        counted = (
            stage.spark.read.format("kafka")
            .options(**stage.client_options(), subscribe=output)
            .option("kafka.isolation.level", "read_committed")
            .load()
            .select("key", F.split(F.col("value").cast("string"), " ")[0].cast("long").alias("n"))
            .groupBy("key")
            .agg(F.max("n").alias("n"))
            .agg(F.sum("n"))
            .first()
        )
        if counted is None or counted[0] != records:
            raise SystemExit(f"{output} counts {counted} records; expected {records}")


def report(keys: int, asked: argparse.Namespace, courses: dict[str, list[Course]]) -> None:
    streams = statistics.median(each.rate_from(0.25) for each in courses["Kafka Streams"])
    rows = []
    for name, runs in courses.items():
        steady = statistics.median(each.rate_from(0.25) for each in runs)
        rows.append(
            [
                name,
                f"{steady:,.0f}",
                f"{steady / streams:.2f}×",
                f"{statistics.median(each.rate_from(0.0) for each in runs):,.0f}",
                f"{statistics.median(each.whole_s() for each in runs):.1f}",
            ]
        )
    table(
        f"**fold, {keys:,} keys**, {asked.records:,} records of {RECORD_BYTES} bytes,"
        f" median of {asked.rounds} rounds",
        ["engine", "records/s, steady", "against Streams", "from first commit", "whole, s"],
        rows,
    )


if __name__ == "__main__":
    main()
