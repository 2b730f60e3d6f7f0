"""leaked: a record that read_committed shows and must not: its transaction was aborted, or it had
none although the suspect writes in transactions only.

Neighbouring bad batches of one producer are one range, and only those are broadcast to the records:
a topic written wholly outside transactions is one range a partition, not one a batch.
"""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from onceproof.checks.case import Case
from onceproof.checks.wording import place


def find(case: Case) -> DataFrame:
    if case.batches is None:
        return case.observed.limit(0)
    ranges = F.broadcast(_bad_ranges(case.batches, transactional=case.transactional is True))
    inside = F.col("offset").between(F.col("base_offset"), F.col("last_offset"))
    return (
        case.observed.join(ranges, on="partition", how="inner")
        .where(inside)
        .select(
            "topic",
            "partition",
            "offset",
            "key",
            "unit",
            "outcome",
            "producer_id",
            "epoch",
            "base_offset",
            "last_offset",
        )
    )


def _bad_ranges(batches: DataFrame, *, transactional: bool) -> DataFrame:
    """partition, outcome, producer_id, epoch, base_offset, last_offset: runs of bad batches."""
    in_log = Window.partitionBy("partition").orderBy("base_offset")
    before = in_log.rowsBetween(-1, -1)
    so_far = in_log.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    source = F.struct("outcome", "producer_id", "epoch")
    starts = ~source.eqNullSafe(F.max(source).over(before))
    runs = batches.withColumn("starts", starts.cast("int")).withColumn(
        "run", F.sum("starts").over(so_far)
    )
    outcomes = ["ABORTED", "NONE"] if transactional else ["ABORTED"]
    return (
        runs.where(F.col("outcome").isin(*outcomes))
        .groupBy("partition", "run", "outcome", "producer_id", "epoch")
        .agg(F.min("base_offset").alias("base_offset"), F.max("last_offset").alias("last_offset"))
    )


def tell(facts: Mapping[str, Any]) -> str:
    who = f"producer {facts['producer_id']}, epoch {facts['epoch']}"
    span = f"{facts['base_offset']} to {facts['last_offset']}"
    how = "aborted" if facts["outcome"] == "ABORTED" else "written outside any transaction"
    return f"{facts['unit']} at {place(facts)} can be read, but {span} of {who} was {how}: leaked."
