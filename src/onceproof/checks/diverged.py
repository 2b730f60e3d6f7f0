"""diverged: two outputs for one input that differ. Owns them: not duplicated, not wrong.

One row for each unit: where it first came out, and the first place where it said something else.
"""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from onceproof.checks.case import Case
from onceproof.checks.wording import place, shown


def find(case: Case) -> DataFrame:
    told = F.struct("topic", "partition", "offset", "payload")
    by_unit = Window.partitionBy("unit").rowsBetween(
        Window.unboundedPreceding, Window.unboundedFollowing
    )
    differing = (
        case.observed.where("unit IS NOT NULL")
        .withColumn("first", F.min(told).over(by_unit))
        .where("payload != first.payload")
    )
    units = differing.groupBy("unit").agg(F.min("first").alias("first"), F.min(told).alias("other"))
    inputs = case.expected.select("unit", "key", "input_topic", "input_partition", "input_offset")
    return units.join(inputs, on="unit", how="inner").select(
        F.col("other.topic").alias("topic"),
        F.col("other.partition").alias("partition"),
        F.col("other.offset").alias("offset"),
        "key",
        "unit",
        shown("other.payload").alias("payload"),
        F.col("first.topic").alias("first_topic"),
        F.col("first.partition").alias("first_partition"),
        F.col("first.offset").alias("first_offset"),
        shown("first.payload").alias("first_payload"),
        "input_topic",
        "input_partition",
        "input_offset",
    )


def is_diverged() -> Column:
    """Whether the outputs of a row's unit differ."""
    by_unit = Window.partitionBy("unit").rowsBetween(
        Window.unboundedPreceding, Window.unboundedFollowing
    )
    return F.min("payload").over(by_unit) != F.max("payload").over(by_unit)


def tell(facts: Mapping[str, Any]) -> str:
    return (
        f"{facts['unit']} came out at {place(facts, 'first_')} as ({facts['first_payload']}) "
        f"and at {place(facts)} as ({facts['payload']}): diverged."
    )
