"""reordered: outputs of a key in another order than their inputs, within an output partition.

    in-0   17-57 @300 · 17-58 @301          out-0   17-58 @401 · 17-57 @402      17-57 is reordered

Only the first output of each unit counts: a duplicate that comes late has not changed the order.
"""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from onceproof.checks.case import Case
from onceproof.checks.wording import place


def find(case: Case) -> DataFrame:
    first = case.observed.groupBy("unit").agg(
        F.min(F.struct("topic", "partition", "offset")).alias("at")
    )
    inputs = case.expected.select(
        "unit", "key", "ordinal", "input_topic", "input_partition", "input_offset"
    )
    rows = first.join(inputs, on="unit", how="inner").select("at.*", *inputs.columns)
    of_key = Window.partitionBy("topic", "partition", "key", "input_partition").orderBy("offset")
    before = of_key.rowsBetween(Window.unboundedPreceding, -1)
    latest = F.max(F.struct("ordinal", "unit", "offset", "input_offset")).over(before)
    return (
        rows.withColumn("latest", latest)
        .where("ordinal < latest.ordinal")
        .select(
            "topic",
            "partition",
            "offset",
            "key",
            "unit",
            "input_topic",
            "input_partition",
            "input_offset",
            F.col("latest.unit").alias("before_unit"),
            F.col("latest.offset").alias("before_offset"),
            F.col("latest.input_offset").alias("before_input_offset"),
        )
    )


def tell(facts: Mapping[str, Any]) -> str:
    earlier = place({**facts, "offset": facts["before_offset"]})
    successor = place({**facts, "input_offset": facts["before_input_offset"]}, "input_")
    return (
        f"{facts['unit']} ({place(facts, 'input_')}) came out at {place(facts)}, after its "
        f"successor {facts['before_unit']} ({successor}) at {earlier}: reordered."
    )
