"""regressed: a key's state that goes back, in the order of an output partition (cumulative only).

    out-0   17: count 57 · 17: count 58 · 17: count 31      58, then 31: regressed

Each output below the highest before it counts, also one that repeats an old state word for word:
who reads the topic as a table sees it go back. `duplicated` leaves those to this check.
"""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from onceproof.checks.case import Case
from onceproof.checks.wording import place


def find(case: Case) -> DataFrame:
    count_fell = F.col("ordinal") < F.col("top.ordinal")
    rows = with_highest_before(case.observed.where("unit IS NOT NULL")).where(went_back())
    before = F.when(count_fell, F.col("top.ordinal")).otherwise(F.col("top_level.level"))
    before_offset = F.when(count_fell, -F.col("top.back")).otherwise(-F.col("top_level.back"))
    return rows.select(
        "topic",
        "partition",
        "offset",
        "key",
        "unit",
        F.when(count_fell, "count").otherwise("max").alias("measure"),
        F.when(count_fell, F.col("ordinal")).otherwise(F.col("level")).alias("now"),
        before.alias("before"),
        before_offset.alias("before_offset"),
    )


def with_highest_before(observed: DataFrame) -> DataFrame:
    """OBSERVED with top and top_level: the highest ordinal and level before, and (−) where."""
    order = Window.partitionBy("topic", "partition", "key").orderBy("offset")
    before = order.rowsBetween(Window.unboundedPreceding, -1)
    # −offset: among equals the earliest is the greatest, so a witness names where it was reached.
    back = (-F.col("offset")).alias("back")
    return observed.withColumn("top", F.max(F.struct("ordinal", back)).over(before)).withColumn(
        "top_level", F.max(F.struct("level", back)).over(before)
    )


def went_back() -> Column:
    """Null-proof: the first output of a key, or one without a level, has not gone back."""
    fell = (F.col("ordinal") < F.col("top.ordinal")) | (F.col("level") < F.col("top_level.level"))
    return F.coalesce(fell, F.lit(False))


def tell(facts: Mapping[str, Any]) -> str:
    subject = f"key {facts['key']}"
    if facts["measure"] == "max":
        subject = f"the max of key {facts['key']}"
    before = place({**facts, "offset": facts["before_offset"]})
    return (
        f"{subject} was {facts['before']} at {before}, "
        f"then {facts['now']} at {place(facts)}: regressed."
    )
