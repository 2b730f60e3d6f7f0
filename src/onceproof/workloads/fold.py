"""fold: per key the running count, max and the id of the last record folded.

    output  {"key":"17","count":59,"max":612,"id":"17-58"}

A unit is a state, "<key>#<count>". States in between may be skipped: an engine that works in
batches does.
"""

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from onceproof.workloads import copy
from onceproof.workloads.input_plan import InputPlan
from onceproof.workloads.input_records import flaws, parsed
from onceproof.workloads.units import observed_rows

VALUE = "key string, count long, max long, id string"


def generate(
    spark: SparkSession, plan: InputPlan, from_index: int, to_index: int, tasks: int | None = None
) -> DataFrame:
    return copy.generate(spark, plan, from_index, to_index, tasks)


def expected(records: DataFrame) -> DataFrame:
    """The state after each record, in log order: a record written twice is folded twice."""
    log_order = Window.partitionBy("key").orderBy("partition", "offset")
    so_far = log_order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    states = (
        parsed(records)
        .withColumn("count", F.count("*").over(so_far))
        .withColumn("max", F.max("number").over(so_far))
    )
    return states.select(
        _unit(F.col("key"), F.col("count")).alias("unit"),
        "key",
        F.col("count").alias("ordinal"),
        _payload(F.col("max"), F.col("id")).alias("payload"),
        F.lit(1).cast("long").alias("allowed"),
        F.col("topic").alias("input_topic"),
        F.col("partition").alias("input_partition"),
        F.col("offset").alias("input_offset"),
        F.col("offset").alias("input_offset_last"),
    )


def observed(records: DataFrame) -> DataFrame:
    rows = records.withColumn("json", F.from_json("value", VALUE))
    understood = (
        F.col("json.key").isNotNull()
        & F.col("json.count").isNotNull()
        & F.col("json.max").isNotNull()
        & F.col("json.id").isNotNull()
    )
    return observed_rows(
        rows,
        unit=F.when(understood, _unit(F.col("json.key"), F.col("json.count"))),
        key=F.coalesce("json.key", "key"),
        ordinal=F.col("json.count"),
        payload=_payload(F.col("json.max"), F.col("json.id")),
        level=F.col("json.max"),
    )


def _unit(key: Column, count: Column) -> Column:
    return F.format_string("%s#%d", key, count)


def _payload(highest: Column, record_id: Column) -> Column:
    return F.format_string("max %d, id %s", highest, record_id)


def input_flaws(records: DataFrame) -> DataFrame:
    return flaws(records)
