"""Columns as in Spark's Kafka sink: value, and optionally key, headers, topic, partition.

Cuts a batch into lanes. A row's lane is a stable hash of its key (of its value where it has no
key), never the index of a Spark partition: that index is not the same in a replay (AQE, other
shuffle partitions, the Kafka source's own order of ranges).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onceproof.sink.errors import SinkError

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import Column, DataFrame

LANE_COLUMN = "__lane"
COLUMNS = (LANE_COLUMN, "key", "value", "headers", "topic", "partition")
_KNOWN = set(COLUMNS) - {LANE_COLUMN}


@dataclass(frozen=True, slots=True)
class Record:
    topic: str
    partition: int | None
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]] | None


def in_lanes(batch: "DataFrame", lanes: int, topic: str | None) -> "DataFrame":
    """Runs on the driver. The batch with its lane as a column, and lane n's rows in partition n.

    `repartition(n, column)` puts a row into partition pmod(hash(column), n); the lane is that very
    expression, and each task checks that the two agree. Within one upstream partition the order of
    rows is kept, so records of a key stay in order.
    """
    from pyspark.sql import functions as F

    rows = _columns(batch, topic)
    by = F.coalesce(F.col("key"), F.col("value"))
    laned = rows.withColumn("__by", by).withColumn(
        LANE_COLUMN, F.expr(f"pmod(hash(__by), {lanes})")
    )
    return laned.repartition(lanes, "__by").drop("__by")


def _columns(batch: "DataFrame", topic: str | None) -> "DataFrame":
    unknown = sorted(set(batch.columns) - _KNOWN)
    if "value" not in batch.columns or unknown:
        raise SinkError(
            "the batch must have the column value, and may have key, headers, topic, partition;"
            f" got {', '.join(batch.columns)}"
        )
    if topic is None and "topic" not in batch.columns:
        raise SinkError("no topic: give topic=… or a column topic")
    return batch.select(
        _or_null(batch, "key", "binary"),
        _or_null(batch, "value", "binary"),
        _or_null(batch, "headers", "array<struct<key:string,value:binary>>"),
        _or_null(batch, "topic", "string"),
        _or_null(batch, "partition", "int"),
    )


def _or_null(batch: "DataFrame", name: str, kind: str) -> "Column":
    from pyspark.sql import functions as F

    column = F.col(name) if name in batch.columns else F.lit(None)
    return column.cast(kind).alias(name)


def records(
    batches: Iterator["pyarrow.RecordBatch"], lane: int, topic: str | None
) -> Iterator[Record]:
    """Runs on executors. A lane's rows, one by one; a row of another lane stops everything."""
    for batch in batches:
        columns: dict[str, list[Any]] = batch.to_pydict()
        strangers = set(columns[LANE_COLUMN]) - {lane, None}
        if strangers:
            raise SinkError(f"rows of lanes {sorted(strangers)} came to the task of lane {lane}")
        for own_lane, key, value, headers, own_topic, partition in zip(
            *(columns[name] for name in COLUMNS), strict=True
        ):
            if own_lane is None:
                continue  # stands for no row at all: see leader._no_rows
            goes_to = topic if topic is not None else own_topic
            if goes_to is None:
                raise SinkError("a row has no topic, and the sink was given none")
            yield Record(goes_to, partition, key, value, _headers(headers))


def _headers(headers: list[dict[str, Any]] | None) -> list[tuple[str, bytes | None]] | None:
    if headers is None:
        return None
    return [(header["key"], header["value"]) for header in headers]
