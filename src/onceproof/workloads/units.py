"""EXPECTED and OBSERVED, for workloads in which each id of the input is a unit of its own."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F


def expected_units(records: DataFrame, *, once: bool) -> DataFrame:
    """EXPECTED out of id, payload and the place of each input record: one row per id.

    An id that is twice in the input (a retried task of the injector) is allowed, and required,
    twice; with `once` it stays one output however often it comes.
    """
    place = F.struct("partition", "offset")
    first = F.struct("topic", "partition", "offset", "key", "payload")
    units = records.groupBy("id").agg(
        F.min_by(first, place).alias("first"),
        F.max_by(F.col("offset"), place).alias("offset_last"),
        F.count("*").alias("times"),
    )
    return units.select(
        F.col("id").alias("unit"),
        F.col("first.key").alias("key"),
        F.col("first.offset").alias("ordinal"),
        F.col("first.payload").alias("payload"),
        (F.lit(1).cast("long") if once else F.col("times")).alias("allowed"),
        F.col("first.topic").alias("input_topic"),
        F.col("first.partition").alias("input_partition"),
        F.col("first.offset").alias("input_offset"),
        F.col("first.offset" if once else "offset_last").alias("input_offset_last"),
    )


def observed_rows(
    records: DataFrame,
    *,
    unit: Column,
    key: Column,
    ordinal: Column,
    payload: Column,
    level: Column | None = None,
    state_expected: Column | None = None,
    state_found: Column | None = None,
) -> DataFrame:
    """OBSERVED out of a topic's records; what a workload does not have is null."""
    nothing = F.lit(None).cast("long")
    return records.select(
        unit.alias("unit"),
        key.alias("key"),
        ordinal.alias("ordinal"),
        payload.alias("payload"),
        (nothing if level is None else level).alias("level"),
        (nothing if state_expected is None else state_expected).alias("state_expected"),
        (nothing if state_found is None else state_found).alias("state_found"),
        "topic",
        "partition",
        "offset",
        "timestamp",
        "value",
    )
