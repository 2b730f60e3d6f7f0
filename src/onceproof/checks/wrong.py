"""wrong: a value the model does not allow.

unreadable   no output of this workload at all
unreached    a state of a key that the key never reached (cumulative only)
differs      another payload than the one allowed; if its copies differ too, `diverged` has it
"""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from onceproof.checks.case import Case
from onceproof.checks.diverged import is_diverged
from onceproof.checks.wording import place, shown


def find(case: Case) -> DataFrame:
    allowed = case.expected.select(
        "unit",
        F.col("payload").alias("allowed_payload"),
        "input_topic",
        "input_partition",
        "input_offset",
    )
    rows = (
        case.observed.withColumn("is_diverged", is_diverged())
        .join(allowed, on="unit", how="left")
        .join(_heights(case), on="key", how="left")
    )
    kind = (
        F.when(F.col("unit").isNull(), "unreadable")
        .when(F.col("allowed_payload").isNull() & F.col("height").isNotNull(), "unreached")
        .when((F.col("payload") != F.col("allowed_payload")) & ~F.col("is_diverged"), "differs")
    )
    return (
        rows.withColumn("kind", kind)
        .where("kind IS NOT NULL")
        .select(
            "topic",
            "partition",
            "offset",
            "key",
            "unit",
            "kind",
            shown(F.when(F.col("unit").isNull(), F.col("value")).otherwise(F.col("payload"))).alias(
                "payload"
            ),
            shown("allowed_payload").alias("allowed_payload"),
            "height",
            "input_topic",
            "input_partition",
            "input_offset",
        )
    )


def _heights(case: Case) -> DataFrame:
    """key, height: how far the input takes each key; empty where outputs are no states."""
    keys = case.expected.where(F.lit(case.cumulative)).groupBy("key")
    return keys.agg(F.max("ordinal").alias("height"))


def tell(facts: Mapping[str, Any]) -> str:
    at, said = place(facts), facts["payload"]
    if facts["kind"] == "unreadable":
        return f"{at} holds ({said}), which is no output of this workload: wrong."
    if facts["kind"] == "unreached":
        height = facts["height"]
        return f"{facts['unit']} at {at}, but the input takes the key only to {height}: wrong."
    return (
        f"{facts['unit']} is ({said}) at {at}; "
        f"{place(facts, 'input_')} allows only ({facts['allowed_payload']}): wrong."
    )
