"""The sink's row hashes on real Spark: equal records hash alike, others do not."""

from pyspark.sql import DataFrame, SparkSession

from onceproof.sink.cut import HASH_COLUMN, LANE_COLUMN, cut_batch
from onceproof.sink.ledger.entries import Cut

SCHEMA = (
    "topic string, partition int, key binary, value binary,"
    " headers array<struct<key:string,value:binary>>"
)
# No two of these are the same record.
DIFFERENT = [
    ("a", None, b"k", b"v", None),
    ("b", None, b"k", b"v", None),
    ("a", 0, b"k", b"v", None),
    ("a", 1, b"k", b"v", None),
    ("a", None, None, b"v", None),
    ("a", None, b"", b"v", None),
    ("a", None, b"k", None, None),
    ("a", None, b"k", b"", None),
    ("a", None, b"kv", b"", None),
    ("a", None, None, b"kv", None),
    ("a", None, b"k", b"v", [("h", None)]),
    ("a", None, b"k", b"v", [("h", b"")]),
    ("a", None, b"k", b"v", [("h", b"x")]),
    ("a", None, b"k", b"v", [("hx", b"")]),
    ("a", None, b"k", b"v", [("h", b"x"), ("i", None)]),
    ("a", None, b"k", b"v", [("h", None), ("i", b"x")]),
    ("a", None, b"k", b"v", [("i", None), ("h", b"x")]),
]


def hashes(rows: DataFrame, topic: str | None = None) -> list[int]:
    cut = cut_batch(rows, Cut.PARTITIONS, 1, topic)
    return [row[0] for row in cut.select(HASH_COLUMN).collect()]


def test_different_records_have_different_hashes(spark: SparkSession) -> None:
    found = hashes(spark.createDataFrame(DIFFERENT, SCHEMA).coalesce(1))
    assert len(set(found)) == len(DIFFERENT)


def test_a_record_hashes_alike_however_its_columns_came_about(spark: SparkSession) -> None:
    whole = spark.createDataFrame([("a", None, None, b"v", None)], SCHEMA)
    assert hashes(whole) == hashes(whole.select("topic", "value"))
    assert hashes(whole) == hashes(whole.select("value"), topic="a")
    assert hashes(whole) == hashes(whole.selectExpr("topic", "CAST(value AS STRING) AS value"))
    no_headers = spark.createDataFrame([("a", None, None, b"v", [])], SCHEMA)
    assert hashes(whole) == hashes(no_headers)


def test_lanes_by_keys_are_the_partitions_and_do_not_depend_on_the_plan(
    spark: SparkSession,
) -> None:
    rows = spark.range(200).selectExpr("CAST(id % 20 AS STRING) AS key", "'v' AS value")

    def lane_of_each_key(batch: DataFrame) -> dict[bytes, int]:
        cut = cut_batch(batch, Cut.KEYS, 5, "out")
        seen = cut.selectExpr("key", LANE_COLUMN, "spark_partition_id() AS place").collect()
        assert all(row[1] == row[2] for row in seen)
        return {bytes(row[0]): row[1] for row in seen}

    assert lane_of_each_key(rows) == lane_of_each_key(rows.repartition(7).orderBy("value"))
    assert len(set(lane_of_each_key(rows).values())) > 1
