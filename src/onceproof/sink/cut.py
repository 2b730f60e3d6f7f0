"""Runs on the driver. Cuts a batch into lanes, so that a replay makes the same lanes again.

Columns as in Spark's Kafka sink: value, and optionally key, headers, topic, partition.

partitions   the batch's own partitions are the lanes: no shuffle. Only where their contents cannot
             change between a run and its replay (see stable.py); their order may change, so a lane
             is recognised by its contents, never by a partition's index
keys         a stable hash of the key (of the value where there is no key), by a shuffle
"""

from typing import TYPE_CHECKING

from onceproof.sink.errors import SinkError
from onceproof.sink.ledger.entries import Cut
from onceproof.sink.stable import stable_partitions

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

LANE_COLUMN = "__lane"
HASH_COLUMNS = ("__hash_1", "__hash_2")
_KINDS = {
    "topic": "string",
    "partition": "int",
    "key": "binary",
    "value": "binary",
    "headers": "array<struct<key:string,value:binary>>",
}


def choose_cut(batch: "DataFrame", lanes_max: int) -> tuple[Cut, int]:
    """How to cut a new batch, and into how many lanes."""
    partitions = stable_partitions(batch)
    if partitions is not None and 1 <= partitions <= lanes_max:
        return Cut.PARTITIONS, partitions
    return Cut.KEYS, lanes_max


def cut_batch(batch: "DataFrame", cut: Cut, lanes: int, topic: str | None) -> "DataFrame":
    """The batch as the tasks want it; by keys, lane n's rows are in partition n.

    `repartition(n, column)` puts a row into partition pmod(hash(column), n); the lane is that very
    expression, and each task checks that the two agree. Within one upstream partition the order of
    rows is kept, so records of a key stay in order.
    """
    from pyspark.sql import functions as F

    rows = _with_hashes(_columns(batch, topic), topic)
    if cut is Cut.PARTITIONS:
        return rows
    by = F.coalesce(F.col("key"), F.col("value")) if "key" in rows.columns else F.col("value")
    laned = rows.withColumn("__by", by).withColumn(
        LANE_COLUMN, F.expr(f"pmod(hash(__by), {lanes})")
    )
    return laned.repartition(lanes, "__by").drop("__by")


def _columns(batch: "DataFrame", topic: str | None) -> "DataFrame":
    unknown = sorted(set(batch.columns) - set(_KINDS))
    if "value" not in batch.columns or unknown:
        raise SinkError(
            "the batch must have the column value, and may have key, headers, topic, partition;"
            f" got {', '.join(batch.columns)}"
        )
    if topic is None and "topic" not in batch.columns:
        raise SinkError("no topic: give topic=… or a column topic")
    from pyspark.sql import functions as F

    wanted = [name for name in _KINDS if name in batch.columns]
    if topic is not None:  # as in Spark's sink the option overrides the column
        wanted = [name for name in wanted if name != "topic"]
    return batch.select(*(F.col(name).cast(_KINDS[name]).alias(name) for name in wanted))


def _with_hashes(rows: "DataFrame", topic: str | None) -> "DataFrame":
    from pyspark.sql import functions as F

    parts = [part for name in _KINDS for part in _hashed(rows, name, topic)]
    first, second = (
        F.xxhash64(F.lit(salt), *parts).alias(name) for salt, name in enumerate(HASH_COLUMNS)
    )
    return rows.select("*", first, second)


def _hashed(rows: "DataFrame", name: str, topic: str | None) -> "list[Column]":
    """What of a column goes into the hash. Spark's hash passes over nulls: they are said apart."""
    from pyspark.sql import functions as F

    if name == "topic" and topic is not None:
        return [F.lit(False), F.lit(topic).cast("binary")]
    if name not in rows.columns:
        return [F.lit(0) if name == "headers" else F.lit(True)]
    column = F.col(name)
    if name == "topic":
        return [column.isNull(), column.cast("binary")]
    if name == "headers":
        framed = F.transform(
            column,
            lambda header: F.struct(
                header["key"].cast("binary"), header["value"].isNull(), header["value"]
            ),
        )
        # In Kafka a record without headers and one with an empty list of them are the same.
        return [F.when(column.isNull(), 0).otherwise(F.size(column)), framed]
    return [column.isNull(), column]
