"""A topic as RECORDS, out of Spark's Kafka source: the one way in which topics are judged."""

from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession

READ_COMMITTED = "read_committed"


def as_records(kafka_rows: DataFrame) -> DataFrame:
    """RECORDS out of what Spark's Kafka source hands out, batch or stream."""
    return kafka_rows.selectExpr(
        "topic",
        "partition",
        "offset",
        "timestamp",
        "CAST(key AS STRING) AS key",
        "CAST(value AS STRING) AS value",
    )


def read_topic(
    spark: SparkSession,
    topic: str,
    options: Mapping[str, str],
    isolation_level: str = READ_COMMITTED,
) -> DataFrame:
    """The whole topic, from its start to its end as of now; `options` lead to the brokers."""
    rows = (
        spark.read.format("kafka")
        .options(**options)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .option("endingOffsets", "latest")
        .option("kafka.isolation.level", isolation_level)
        .load()
    )
    return as_records(rows)
