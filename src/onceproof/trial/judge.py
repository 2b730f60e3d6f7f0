"""Judges what stands in a run directory; nothing else is looked at, so `onceproof check` is the
same.
"""

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from onceproof.history.run_directory import RunDirectory
from onceproof.history.schemas import EVENTS, FRAMES, POSITIONS
from onceproof.trial.interpreted import interpreted_if_small, rows_stored
from onceproof.trial.readback import load_positions
from onceproof.workloads.catalog import workload_named

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from onceproof.checks.case import Case
    from onceproof.checks.judge import Judgement

FLAWS_TOLD_MAX = 3
WIRE_PARTS = "*.parquet"  # one that is being written has another name


@dataclass(frozen=True, kw_only=True)
class CaseFacts:
    """What a judge must know besides the data; kept in run.json under `case`."""

    workload: str
    transactional: bool | None
    checks: tuple[str, ...]
    stuck_after_s: float
    settled: bool
    # Not in the run.json of older runs; None: not known.
    offsets_in_group: bool | None = None
    began_at_s: float | None = None  # by the wall clock, as the frames of the wire

    def to_json(self) -> dict[str, object]:
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Judged:
    judgement: "Judgement"
    input_flaws: tuple[str, ...]  # why this input has no fixed truth
    # Whether every output is there that the whole input leads to; asked only of a suspect whose
    # position is not known.
    is_complete: bool | None
    counts: dict[str, int]
    output_by_partition: dict[int, int]
    input_by_partition: dict[int, int]


def judge_run(spark: "SparkSession", directory: RunDirectory, facts: CaseFacts) -> Judged:
    rows = rows_stored(directory.history / "input", directory.history / "output")
    with interpreted_if_small(spark, rows):
        return _judge(spark, directory, facts)


def _judge(spark: "SparkSession", directory: RunDirectory, facts: CaseFacts) -> Judged:
    from onceproof.checks.case import Case
    from onceproof.checks.judge import judge

    history = directory.history
    records = spark.read.parquet(str(history / "input")).cache()
    output = spark.read.parquet(str(history / "output")).cache()
    batches = _stored(spark, directory, "batches")
    frames = _frames(spark, directory)
    workload = workload_named(facts.workload)
    expected = workload.expected(records).cache()
    observed = workload.observed(output).cache()
    try:
        case = Case(
            expected=expected,
            observed=observed,
            positions=_positions(spark, directory),
            batches=batches,
            events=spark.read.schema(EVENTS).json(str(directory.events)),
            frames=frames,
            commits=_stored(spark, directory, "commits"),
            began_at_s=facts.began_at_s,
            cumulative=workload.cumulative,
            transactional=facts.transactional,
            offsets_in_group=facts.offsets_in_group,
            settled=facts.settled,
            stuck_after_s=facts.stuck_after_s,
        )
        flaws = workload.fatal_flaws(records).limit(FLAWS_TOLD_MAX).collect()
        inputs, outputs = _by_partition(records), _by_partition(output)
        return Judged(
            judgement=judge(case, facts.checks),
            input_flaws=tuple(row["sentence"] for row in flaws),
            is_complete=_is_complete(case, records) if case.positions is None else None,
            counts={
                "input": sum(inputs.values()),
                "output_committed": sum(outputs.values()),
                **({} if batches is None else _outcomes(batches)),
            },
            input_by_partition=inputs,
            output_by_partition=outputs,
        )
    finally:
        for each in (records, output, expected, observed, frames):
            if each is not None:
                each.unpersist()


def _is_complete(case: "Case", records: "DataFrame") -> bool:
    """Nothing would be lost if the suspect had passed the whole input."""
    from pyspark.sql import functions as F

    from onceproof.checks.catalog import CHECKS
    from onceproof.checks.judge import examine

    ends = records.groupBy("partition").agg(F.max("offset") + 1).toDF("partition", "position")
    return examine(replace(case, positions=ends, settled=True), CHECKS["lost"]) is None


def _stored(spark: "SparkSession", directory: RunDirectory, name: str) -> "DataFrame | None":
    """The log batch by batch, and the commits of the group; they are read once, in the end."""
    stored = directory.history / name
    return spark.read.parquet(str(stored)) if stored.exists() else None


def _frames(spark: "SparkSession", directory: RunDirectory) -> "DataFrame | None":
    """What the proxy has on disk: whole parts only, so it is all there was up to some moment."""
    stored = directory.wire
    if not any(stored.glob(WIRE_PARTS)):
        return None
    parts = spark.read.schema(FRAMES).option("pathGlobFilter", WIRE_PARTS)
    return parts.parquet(str(stored)).cache()


def _positions(spark: "SparkSession", directory: RunDirectory) -> "DataFrame | None":
    stored = load_positions(directory)
    return None if stored is None else spark.createDataFrame(list(stored.items()), POSITIONS)


def _by_partition(records: "DataFrame") -> dict[int, int]:
    # As many rows as the topic has partitions.
    rows = records.groupBy("partition").count().collect()
    return {row["partition"]: row["count"] for row in rows}


def _outcomes(batches: "DataFrame") -> dict[str, int]:
    """Records of the output log by the fate of their transactions, and how many of those."""
    counted = batches.selectExpr(
        "coalesce(sum(records) FILTER (WHERE outcome = 'ABORTED'), 0) AS output_aborted",
        "coalesce(sum(records) FILTER (WHERE outcome = 'UNKNOWN'), 0) AS output_open",
        "count(DISTINCT producer_id, epoch, marker_offset, partition)"
        " FILTER (WHERE outcome = 'COMMITTED') AS transaction_parts_committed",
        "count(DISTINCT producer_id, epoch, marker_offset, partition)"
        " FILTER (WHERE outcome = 'ABORTED') AS transaction_parts_aborted",
    ).first()
    return {} if counted is None else {name: int(n) for name, n in counted.asDict().items()}
