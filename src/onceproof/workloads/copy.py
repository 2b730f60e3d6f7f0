"""copy: each record once to the output, key and value unchanged to the byte."""

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from onceproof.workloads.grid import grid
from onceproof.workloads.input_plan import InputPlan
from onceproof.workloads.input_records import flaws, made, parsed
from onceproof.workloads.units import expected_units, observed_rows


def generate(
    spark: SparkSession, plan: InputPlan, from_index: int, to_index: int, tasks: int | None = None
) -> DataFrame:
    records = grid(spark, plan, from_index, to_index, tasks)
    return made(records.withColumnRenamed("place", "seq"), plan)


def expected(records: DataFrame) -> DataFrame:
    return expected_units(parsed(records).withColumn("payload", unchanged()), once=False)


def observed(records: DataFrame) -> DataFrame:
    return observed_rows(
        parsed(records),
        unit=F.col("id"),
        key=F.col("key"),
        ordinal=F.col("seq"),
        payload=unchanged(),
    )


def unchanged() -> Column:
    """Key and value as they are: a record copied under another key is not copied."""
    return F.concat_ws(" ", F.coalesce("key", F.lit("(no key)")), F.col("value"))


def input_flaws(records: DataFrame) -> DataFrame:
    return flaws(records)
