"""lost: an input that the suspect has read past and whose output did not come (often enough).

    in-0   @0   @1   @2 │ @3          the suspect's position: 3
    out    yes  no   yes│ no          @1 is lost; @3 is only late

Where no position is known, the highest input that did come out stands for it: a successor came, so
what lies before it was passed over. That holds only once nothing moves any more (Case.settled).
"""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from onceproof.checks.case import Case
from onceproof.checks.wording import place


def find(case: Case) -> DataFrame:
    positions = F.broadcast(_positions(case))
    passed = case.expected.join(positions, on="input_partition", how="inner").where(
        "input_offset < position"
    )
    compared = _states(case, passed) if case.cumulative else _records(case, passed)
    return compared.where("came < due").select(
        "unit",
        "key",
        "input_topic",
        "input_partition",
        "input_offset",
        "position",
        "due",
        "came",
        F.lit(case.cumulative).alias("cumulative"),
    )


def _records(case: Case, passed: DataFrame) -> DataFrame:
    """due: how often the unit must have come by now; came: how often it did."""
    times = case.observed.groupBy("unit").agg(F.count("*").alias("times"))
    due = "CASE WHEN input_offset_last < position THEN allowed ELSE 1 END"
    return (
        passed.join(times, on="unit", how="left")
        .withColumn("due", F.expr(due))
        .withColumn("came", F.coalesce("times", F.lit(0)))
    )


def _states(case: Case, passed: DataFrame) -> DataFrame:
    """due: the state's ordinal; came: the highest of its key, which stands for all before it."""
    understood = case.observed.where("unit IS NOT NULL")
    highest = understood.groupBy("key").agg(F.max("ordinal").alias("highest"))
    return (
        passed.join(highest, on="key", how="left")
        .withColumn("due", F.col("ordinal"))
        .withColumn("came", F.coalesce("highest", F.lit(0)))
    )


def _positions(case: Case) -> DataFrame:
    """input_partition int, position long: as known, else as the output lets conclude."""
    concluded = _concluded(case, case.expected)
    if case.positions is None:
        return concluded
    known = case.positions.where("position IS NOT NULL").select(
        F.col("partition").alias("input_partition"), "position"
    )
    if not case.settled:
        return known
    others = case.expected.join(F.broadcast(known), on="input_partition", how="left_anti")
    return known.union(_concluded(case, others))


def _concluded(case: Case, expected: DataFrame) -> DataFrame:
    came_out = expected.join(case.observed.select("unit"), on="unit", how="left_semi")
    highest = came_out.groupBy("input_partition").agg(F.max("input_offset").alias("highest"))
    return highest.where(F.lit(case.settled)).selectExpr(
        "input_partition", "highest + 1 AS position"
    )


def tell(facts: Mapping[str, Any]) -> str:
    source = f"{facts['unit']} ({place(facts, 'input_')})"
    read = f"{facts['input_topic']}-{facts['input_partition']}@{facts['position']}"
    if facts["cumulative"]:
        what = f"never came out, nor a later state of key {facts['key']}"
    elif facts["came"] == 0:
        what = "never came out"
    else:
        what = f"came out {facts['came']} of {facts['due']} times"
    return f"{source} {what}, though the suspect has read on to {read}: lost."
