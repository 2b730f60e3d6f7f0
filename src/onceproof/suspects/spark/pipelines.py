"""The four workloads as Structured Streaming queries: what a Spark user would write for them.

    input topic ──▶ parsed ──▶ the workload's transformation ──▶ key, value (, place) ──▶ sink

State (fold, dedup, last) is kept by Spark itself, in its RocksDB state store.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F
from pyspark.sql.streaming.state import GroupStateTimeout

if TYPE_CHECKING:
    import pandas
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.state import GroupState

VALUE_SCHEMA = "id string, seq long, value long"


def copy(source: "DataFrame") -> "DataFrame":
    return source.select("key", "value")


def fold(source: "DataFrame") -> "DataFrame":
    folded = (
        _parsed(source)
        .groupBy("key")
        .agg(
            F.count(F.lit(1)).alias("count"),
            F.max("value").alias("max"),
            # A key lives in one input partition, so its offsets order its records.
            F.max_by("id", "offset").alias("id"),
        )
    )
    return folded.select("key", F.to_json(F.struct("key", "count", "max", "id")).alias("value"))


def dedup(source: "DataFrame") -> "DataFrame":
    """`place` lets the writer restore the order: Spark shuffles by id to find the duplicates."""
    identified = source.select(
        "key",
        "value",
        F.from_json(F.col("value").cast("string"), VALUE_SCHEMA)["id"].alias("id"),
        F.struct("partition", "offset").alias("place"),
    )
    return identified.dropDuplicates(["id"]).select("key", "value", "place")


def last(source: "DataFrame") -> "DataFrame":
    found = (
        _parsed(source)
        .groupBy("key")
        .applyInPandasWithState(
            _previous_of_each,
            "key string, id string, expected long, found long, offset long",
            "seq long",
            "append",
            GroupStateTimeout.NoTimeout,
        )
    )
    return found.select("key", F.to_json(F.struct("id", "key", "expected", "found")).alias("value"))


def _parsed(source: "DataFrame") -> "DataFrame":
    key = F.col("key").cast("string").alias("key")
    record = F.from_json(F.col("value").cast("string"), VALUE_SCHEMA).alias("record")
    return source.select(key, record, "offset").select("key", "record.*", "offset")


def _previous_of_each(
    key: tuple[str], frames: Iterator["pandas.DataFrame"], state: "GroupState"
) -> Iterator["pandas.DataFrame"]:
    """For each record of a key in order: the seq kept before it, which should be one less."""
    import pandas

    rows = pandas.concat(list(frames)).sort_values("offset")
    kept = state.get[0] if state.exists else -1
    before = [kept, *rows["seq"].tolist()][:-1]
    state.update((int(rows["seq"].iloc[-1]),))
    yield pandas.DataFrame(
        {
            "key": key[0],
            "id": rows["id"].tolist(),
            "expected": (rows["seq"] - 1).tolist(),
            "found": before,
            "offset": rows["offset"].tolist(),
        }
    )


# name → (transformation, output mode)
PIPELINES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "copy": (copy, "append"),
    "fold": (fold, "update"),
    "dedup": (dedup, "append"),
    "last": (last, "append"),
}
