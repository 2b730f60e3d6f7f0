"""Our sink against Spark's own at-least-once Kafka sink: as it comes, and tuned.

copy  topic ──▶ topic                                   stateless
fold  topic ──▶ max per key (update mode) ──▶ topic     stateful; rates count records read

Four variants in one Spark session on one cluster, round after round in turn. The first round and
the first micro-batch of every later one are not counted: they pay for compilers and query starts.
Brokers compile for minutes, method by method, as requests come, and large batches are few requests:
`--warm-batches` sends many small ones first, by both sinks, as brokers in the field have had.
Rates are records read by the time of whole micro-batches, so ledger, digest and any shuffle of
ours are in them. Ours is compared with the variant of the same compression.

    python bench/sink_throughput.py --inputs 100:2000000 1000:600000 --rounds 3    15 minutes
    python bench/sink_throughput.py --inputs 100:400000 --rounds 1                  2 minutes
"""

import argparse
import itertools
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from sink_stage import (
    CRUMBS,
    KEY_DIGITS,
    LZ4,
    READ_TUNED,
    BatchTime,
    Filling,
    Stage,
    json_fields,
    number_of,
    one_letter,
    own_hash_repeated,
    say,
    seconds_of,
    sink_stage,
    slowest_lanes,
    table,
    warm_rate,
)

from onceproof.sink import ExactlyOnceKafka, exactly_once_kafka
from onceproof.sink.settings import SMALL_BATCH_BYTES_DEFAULT

KEYS = 100_000
OUTPUT_NUMBERS = itertools.count()
TUNED = {"kafka.linger.ms": "20", "kafka.batch.size": "1000000", **LZ4}


@dataclass(frozen=True, kw_only=True)
class Input:
    record_bytes: int
    records: int

    @property
    def topic(self) -> str:
        return f"in-{self.record_bytes}"


@dataclass(frozen=True, kw_only=True)
class Job:
    """What happens between the topics."""

    name: str
    transform: Callable[[DataFrame, int, Filling], DataFrame]
    output_mode: str


@dataclass(frozen=True, kw_only=True)
class Variant:
    name: str
    ours: bool
    options: dict[str, str] = field(default_factory=dict)
    against: str | None = None


VARIANTS = (
    Variant(name="Spark's own, as it comes", ours=False),
    Variant(name="ours, no compression", ours=True, against="Spark's own, as it comes"),
    Variant(name="Spark's own, tuned", ours=False, options=TUNED),
    Variant(name="ours, lz4", ours=True, options=LZ4, against="Spark's own, tuned"),
)


def copy(source: DataFrame, _record_bytes: int, _filling: Filling) -> DataFrame:
    return source.select("key", "value")


def fold(keys: int) -> Callable[[DataFrame, int, Filling], DataFrame]:
    """A number is compared, not the value: Spark folds texts by sorting, which hides the sink."""

    def transform(source: DataFrame, record_bytes: int, filling: Filling) -> DataFrame:
        key = (F.col("key").cast("string").cast("int") % keys).alias("key")
        largest = source.select(key, number_of("value").alias("number")).groupBy("key").max()
        key_text = F.lpad(F.col("key").cast("string"), KEY_DIGITS, "0")
        value = filling(F.col("max(number)"), record_bytes - KEY_DIGITS)
        return largest.select(key_text.alias("key"), value.alias("value"))

    return transform


@dataclass(frozen=True, kw_only=True)
class Fillings:
    """What values are made of: those that are read, and those that a fold writes."""

    read: Filling
    folded: Filling


FILLINGS = {
    "repeats": Fillings(read=own_hash_repeated, folded=one_letter),
    "json": Fillings(read=json_fields, folded=json_fields),
}
JOBS = {
    "copy": Job(name="copy", transform=copy, output_mode="append"),
    "fold-1k": Job(name="fold, 1,000 keys", transform=fold(1_000), output_mode="update"),
    "fold-100k": Job(name="fold, 100,000 keys", transform=fold(KEYS), output_mode="update"),
}


def main() -> None:
    asked = arguments()
    with sink_stage("local[2]") as stage:
        for fed in asked.inputs:
            stage.feed(
                fed.topic,
                records=fed.records,
                record_bytes=fed.record_bytes,
                keys=KEYS,
                filling=FILLINGS[asked.filling].read,
            )
        for name in asked.jobs:
            for fed in asked.inputs:
                warm_up(stage, JOBS[name], fed, asked)
                measure(stage, JOBS[name], fed, asked)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--inputs",
        nargs="+",
        type=input_of,
        default=[input_of("100:2000000"), input_of("1000:600000")],
        metavar="BYTES:RECORDS",
    )
    parser.add_argument("--rounds", type=int, default=3, help="counted rounds, after a warm one")
    parser.add_argument("--batches", type=int, default=4, help="micro-batches of each round")
    parser.add_argument("--lanes", type=int, default=4)
    parser.add_argument("--small-batch-bytes", type=int, default=SMALL_BATCH_BYTES_DEFAULT)
    parser.add_argument(
        "--read-tuned", action="store_true", help="the source does not wait either (READ_TUNED)"
    )
    parser.add_argument("--jobs", nargs="+", choices=JOBS, default=list(JOBS))
    parser.add_argument("--only-tuned", action="store_true", help="the last two variants alone")
    parser.add_argument("--python", action="store_true", help="lanes by Python workers")
    parser.add_argument("--filling", choices=FILLINGS, default="repeats")
    parser.add_argument("--warm-batches", type=int, default=0, help="small ones, before all rounds")
    parser.add_argument(
        "--ours-lz4",
        nargs="*",
        type=lambda text: text.split("=", 1),
        default=[],
        metavar="kafka.NAME=VALUE",
        help="more options for ours with lz4",
    )
    return parser.parse_args()


def input_of(text: str) -> Input:
    record_bytes, records = (int(part) for part in text.split(":"))
    return Input(record_bytes=record_bytes, records=records)


def warm_up(stage: Stage, job: Job, fed: Input, asked: argparse.Namespace) -> None:
    """By lanes, however small: whole batches would leave them cold."""
    if not asked.warm_batches:
        return
    small = {**vars(asked), "batches": asked.warm_batches, "small_batch_bytes": 0}
    for variant in VARIANTS[-2:]:
        run(stage, job, fed, variant, argparse.Namespace(**small))
        say(f"{job.name}, {fed.record_bytes} bytes: warmed up by {variant.name}")


def measure(stage: Stage, job: Job, fed: Input, asked: argparse.Namespace) -> None:
    """All rounds of one job on one input, and their table."""
    variants = VARIANTS[-2:] if asked.only_tuned else VARIANTS
    rounds: dict[str, list[list[BatchTime]]] = {variant.name: [] for variant in variants}
    for number in range(asked.rounds + 1):
        for variant in variants:
            batches = run(stage, job, fed, variant, asked)
            say(
                f"{job.name}, {fed.record_bytes} bytes, round {number}, {variant.name}:"
                f" {warm_rate(batches):,.0f}/s; batches {seconds_of(batches)} s"
            )
            if number > 0:
                rounds[variant.name].append(batches)
    report(job, fed, rounds)


def run(
    stage: Stage, job: Job, fed: Input, variant: Variant, asked: argparse.Namespace
) -> list[BatchTime]:
    output = stage.new_topic(f"out-{next(OUTPUT_NUMBERS)}")
    source = stage.read(
        fed.topic,
        maxOffsetsPerTrigger=fed.records // asked.batches + CRUMBS,
        **(READ_TUNED if asked.read_tuned else {}),
    )
    rows = job.transform(source, fed.record_bytes, FILLINGS[asked.filling].folded)
    writer = rows.writeStream.outputMode(job.output_mode)
    options = {**stage.client_options(), **variant.options}
    if variant.ours and variant.options:
        options.update(asked.ours_lz4)
    if variant.ours:
        sink = exactly_once_kafka(
            sink_id=f"to-{output}",
            topic=output,
            lanes=asked.lanes,
            options=options,
            small_batch_bytes=asked.small_batch_bytes,
            jvm=not asked.python,
        )
        batches = stage.run_to_the_end(writer.foreachBatch(sink))
        say(f"  slowest lanes of the last batch, ms: {_steps(sink)}")
    else:
        batches = stage.run_to_the_end(writer.format("kafka").options(**options, topic=output))
    written = stage.records_in(output)
    if job.name == "copy" and written < fed.records:
        raise SystemExit(f"{variant.name} wrote {written} records; expected {fed.records}")
    stage.drop_topic(output)
    return batches


def _steps(sink: ExactlyOnceKafka) -> str:
    steps = ", ".join(f"{step} {ms:.0f}" for step, ms in slowest_lanes(sink).items())
    last = sink.last_batch
    assert last is not None
    told = f"take up {last.take_up_ms:.0f}, tasks {last.tasks_ms:.0f}, in all {last.total_ms:.0f}"
    return f"{steps}; {told} ({last.writer})"


def report(job: Job, fed: Input, rounds: dict[str, list[list[BatchTime]]]) -> None:
    rates = {name: statistics.median(map(warm_rate, runs)) for name, runs in rounds.items()}
    rows = []
    for variant in (each for each in VARIANTS if each.name in rounds):
        runs = rounds[variant.name]
        against = "" if variant.against is None else rates[variant.name] / rates[variant.against]
        rows.append(
            [
                variant.name,
                f"{rates[variant.name]:,.0f}",
                against and f"{against:.2f}×",
                f"{statistics.median(batch.seconds for run in runs for batch in run[1:]):.2f}",
                f"{statistics.median(run[0].seconds for run in runs):.2f}",
            ]
        )
    table(
        f"**{job.name}, {fed.record_bytes} bytes**, {fed.records:,} records a round,"
        f" median of {len(runs)} rounds",
        ["variant", "records/s, warm", "against Spark's", "warm batch, s", "first batch, s"],
        rows,
    )


if __name__ == "__main__":
    main()
