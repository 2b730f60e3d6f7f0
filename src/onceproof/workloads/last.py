"""last: each record carries the state expected before it; the suspect says what it found.

    output  {"id":"17-58","key":"17","expected":57,"found":57}

The state before a record is the seq before it, -1 for the first (null is taken for -1). What was
found is no part of the payload: a state that is behind is `stale`, not `wrong`. The expected state
is fixed only if every record came into the input once and in order.
"""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from onceproof.workloads import copy
from onceproof.workloads.input_plan import InputPlan
from onceproof.workloads.input_records import flaws, parsed
from onceproof.workloads.units import expected_units, observed_rows

VALUE = "id string, key string, expected long, found long"
NO_STATE = -1


def generate(
    spark: SparkSession, plan: InputPlan, from_index: int, to_index: int, tasks: int | None = None
) -> DataFrame:
    return copy.generate(spark, plan, from_index, to_index, tasks)


def expected(records: DataFrame) -> DataFrame:
    payload = F.format_string("key %s expects %d", F.col("key"), F.col("seq") - 1)
    return expected_units(parsed(records).withColumn("payload", payload), once=False)


def observed(records: DataFrame) -> DataFrame:
    rows = records.withColumn("json", F.from_json("value", VALUE))
    understood = (
        F.col("json.id").isNotNull()
        & F.col("json.key").isNotNull()
        & F.col("json.expected").isNotNull()
    )
    return observed_rows(
        rows,
        unit=F.when(understood, F.col("json.id")),
        key=F.coalesce("json.key", "key"),
        ordinal=F.col("json.expected") + 1,
        payload=F.format_string("key %s expects %d", "json.key", "json.expected"),
        state_expected=F.col("json.expected"),
        state_found=F.coalesce("json.found", F.lit(NO_STATE).cast("long")),
    )


def input_flaws(records: DataFrame) -> DataFrame:
    return flaws(records)
