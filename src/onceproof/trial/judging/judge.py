"""Judges what stands in a run directory; nothing else is looked at, so `onceproof check` is the
same.
"""

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from onceproof.history.run_directory import RunDirectory
from onceproof.trial.judging.small import settings_if_small
from onceproof.trial.judging.tables import Tables
from onceproof.workloads.catalog import workload_named

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from onceproof.checks.case import Case
    from onceproof.checks.judge import Judgement

FLAWS_TOLD_MAX = 3


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
class Besides:
    """What the verdict rests on that the data does not tell; beside the facts, under `case`."""

    doubts: tuple[str, ...] = ()
    no_truth: tuple[str, ...] = ()
    faults_scheduled: int = 0
    fed_expected: int = 0


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
    tables = Tables(spark, directory)
    with settings_if_small(spark, tables.rows):
        try:
            return _judge(tables, facts)
        finally:
            tables.release()


def _judge(tables: Tables, facts: CaseFacts) -> Judged:
    from onceproof.checks.case import Case
    from onceproof.checks.judge import judge

    records, output = tables.records("input"), tables.records("output")
    batches = tables.stored("batches")
    workload = workload_named(facts.workload)
    case = Case(
        expected=tables.keep(workload.expected(records)),
        observed=tables.keep(workload.observed(output)),
        positions=tables.positions(),
        batches=batches,
        events=tables.events(),
        frames=tables.frames(),
        commits=tables.stored("commits"),
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


def _is_complete(case: "Case", records: "DataFrame") -> bool:
    """Nothing would be lost if the suspect had passed the whole input."""
    from pyspark.sql import functions as F

    from onceproof.checks.catalog import CHECKS
    from onceproof.checks.judge import examine

    ends = records.groupBy("partition").agg(F.max("offset") + 1).toDF("partition", "position")
    return examine(replace(case, positions=ends, settled=True), CHECKS["lost"]) is None


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
