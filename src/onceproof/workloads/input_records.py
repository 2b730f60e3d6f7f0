"""The records every workload is fed with: made, read back, and what can be wrong with them.

key = UTF-8 text      value = {"id":"17-58","seq":58,"value":612}
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from onceproof.workloads.grid import hashed
from onceproof.workloads.input_plan import InputPlan

VALUE = "id string, seq long, value long"
# Values climb with seq, so that a state that was set back shows in its max as well as in its count.
VALUE_STEP = 10
VALUE_NOISE = 100


def made(records: DataFrame, plan: InputPlan) -> DataFrame:
    """key string, value string: a function of the seed, key_number and seq alone."""
    noise = F.pmod(hashed(plan, F.col("key_number"), F.col("seq")), F.lit(VALUE_NOISE))
    value = F.struct(
        F.format_string("%d-%d", "key_number", "seq").alias("id"),
        F.col("seq"),
        (F.col("seq") * VALUE_STEP + noise).alias("value"),
    )
    return records.select(
        F.col("key_number").cast("string").alias("key"), F.to_json(value).alias("value")
    )


def parsed(records: DataFrame) -> DataFrame:
    """RECORDS with id, seq and number (the JSON's "value"); null where the JSON lacks them."""
    with_json = records.withColumn("json", F.from_json("value", VALUE))
    return with_json.select(
        "topic",
        "partition",
        "offset",
        "timestamp",
        "key",
        "value",
        F.col("json.id").alias("id"),
        F.col("json.seq").alias("seq"),
        F.col("json.value").alias("number"),
    )


def flaws(records: DataFrame, *, repeats_meant: int = 1) -> DataFrame:
    """flaw, partition, offset, key, sentence: what the injector did not mean to write.

    unreadable  not the JSON above
    repeated    an id more often than the workload meant: a task of the injector was retried
    gap         the seq of a key's new ids does not rise by one from 0
    """
    log_order = [F.col("partition"), F.col("offset")]
    times = Window.partitionBy("id").orderBy(*log_order)
    earlier = times.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    records_read = parsed(records)
    readable = records_read.where(_is_readable()).withColumn("time", F.count("*").over(earlier))
    before = Window.partitionBy("key").orderBy(*log_order).rowsBetween(-1, -1)
    fresh = readable.where(F.col("time") == 1).withColumn(
        "awaited", F.coalesce(F.max("seq").over(before), F.lit(-1)) + 1
    )
    return (
        _flaw(records_read.where(~_is_readable()), "unreadable", F.lit("cannot be understood"))
        .union(
            _flaw(
                readable.where(F.col("time") > repeats_meant),
                "repeated",
                F.format_string("holds %s for the %d. time", "id", "time"),
            )
        )
        .union(
            _flaw(
                fresh.where(F.col("seq") != F.col("awaited")),
                "gap",
                F.format_string(
                    "holds seq %d of key %s where %d was awaited", "seq", "key", "awaited"
                ),
            )
        )
    )


def _is_readable() -> Column:
    return F.col("id").isNotNull() & F.col("seq").isNotNull() & F.col("number").isNotNull()


def _flaw(rows: DataFrame, flaw: str, what: Column) -> DataFrame:
    place = F.format_string("%s-%d@%d", "topic", "partition", "offset")
    return rows.select(
        F.lit(flaw).alias("flaw"),
        "partition",
        "offset",
        "key",
        F.concat_ws(" ", place, what).alias("sentence"),
    )
