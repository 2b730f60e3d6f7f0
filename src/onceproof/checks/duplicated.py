"""duplicated: one output more often than the input allows, always with the same payload.

Each copy beyond the allowed ones counts. Copies that differ belong to `diverged`; a cumulative copy
that takes its key back belongs to `regressed`.
"""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from onceproof.checks import regressed
from onceproof.checks.case import Case
from onceproof.checks.diverged import is_diverged
from onceproof.checks.wording import place


def find(case: Case) -> DataFrame:
    copies = Window.partitionBy("unit").orderBy("topic", "partition", "offset")
    so_far = copies.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    numbered = (
        _candidates(case)
        .withColumn("is_diverged", is_diverged())
        .withColumn("copy", F.count("*").over(so_far))
        .withColumn("first", F.min(F.struct("topic", "partition", "offset")).over(so_far))
    )
    allowed = case.expected.select(
        "unit", "allowed", "input_topic", "input_partition", "input_offset"
    )
    surplus = numbered.where("copy > 1 AND NOT is_diverged AND NOT went_back")
    return (
        surplus.join(allowed, on="unit", how="inner")
        .where("copy > allowed")
        .select(
            "topic",
            "partition",
            "offset",
            "key",
            "unit",
            "copy",
            "allowed",
            F.col("first.topic").alias("first_topic"),
            F.col("first.partition").alias("first_partition"),
            F.col("first.offset").alias("first_offset"),
            "input_topic",
            "input_partition",
            "input_offset",
        )
    )


def _candidates(case: Case) -> DataFrame:
    """unit, payload and place of each output that was understood, and whether its key went back."""
    understood = case.observed.where("unit IS NOT NULL")
    if case.cumulative:
        rows = regressed.with_highest_before(understood)
        marked = rows.withColumn("went_back", regressed.went_back())
    else:
        marked = understood.withColumn("went_back", F.lit(False))
    return marked.select("topic", "partition", "offset", "key", "unit", "payload", "went_back")


def tell(facts: Mapping[str, Any]) -> str:
    first, again = place(facts, "first_"), place(facts)
    allowed = "" if facts["allowed"] == 1 else f" (the input has it {facts['allowed']} times)"
    nth = "again" if facts["copy"] == 2 else f"for the {facts['copy']}. time"
    return f"{facts['unit']} came out at {first} and {nth} at {again}{allowed}: duplicated."
