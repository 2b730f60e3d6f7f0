"""Runs on the driver. Cuts a batch into lanes, so that a replay makes the same lanes again.

Columns as in Spark's Kafka sink: value, and optionally key, headers, topic, partition.

partitions   the batch's own partitions are the lanes: no shuffle. Only where their contents cannot
             change between a run and its replay (see stable.py); their order may change, so a lane
             belongs to what a partition reads, never to its index
keys         a stable hash of the key (of the value where there is no key), by a shuffle
whole        not cut at all: the driver collects it (see whole.py)
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onceproof.sink.errors import SinkError
from onceproof.sink.ledger.entries import Cut, Manifest
from onceproof.sink.lineage import rdd_of, rows_as_they_are
from onceproof.sink.stable import stable_sources

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

LANE_COLUMN = "__lane"
HASH_COLUMN = "__hash"
_HEADERS = "array<struct<key:string,value:binary>>"
_KINDS = {
    "topic": "string",
    "partition": "int",
    "key": "binary",
    "value": "binary",
    "headers": _HEADERS,
}
# As in Spark's sink: a number would be cast to bytes that nobody expects. `void`: no value at all.
_TEXT = {"string", "varchar", "char"}
_TAKEN = {
    "topic": _TEXT,
    "partition": {"int"},
    "key": {*_TEXT, "binary", "void"},
    "value": {*_TEXT, "binary", "void"},
    "headers": {_HEADERS},
}


@dataclass(frozen=True, kw_only=True)
class Lanes:
    """How to cut a batch. `sources`: what each partition reads, where partitions are the lanes."""

    cut: Cut
    count: int
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Column:
    """Of Spark's rows."""

    at: int
    kind: str


def choose_lanes(batch: "DataFrame", lanes_max: int) -> Lanes:
    sources = stable_sources(batch, lanes_max)
    if sources is not None:
        return Lanes(cut=Cut.PARTITIONS, count=len(sources), sources=sources)
    return Lanes(cut=Cut.KEYS, count=lanes_max)


def lanes_again(batch: "DataFrame", manifest: Manifest) -> Lanes:
    """As a batch was cut before; its partitions are what they are now."""
    cut = Cut(manifest.cut)
    sources = stable_sources(batch, manifest.lanes) if cut is Cut.PARTITIONS else None
    return Lanes(cut=cut, count=manifest.lanes, sources=sources or ())


def cut_batch(batch: "DataFrame", cut: Cut, lanes: int, topic: str | None) -> "DataFrame":
    """The batch as the tasks want it; by keys, lane n's rows are in partition n.

    `repartition(n, column)` puts a row into partition pmod(hash(column), n); the lane is that very
    expression, and each task checks that the two agree. Within one upstream partition the order of
    rows is kept, so records of a key stay in order.
    """
    columns = _columns(_types(batch), topic)
    return _cut(batch, cut, lanes, columns, [hash_expression(columns, topic)])


def cut_for_the_jvm(
    batch: "DataFrame", cut: Cut, lanes: int, topic: str | None
) -> tuple[Any, dict[str, Column]]:
    """The same as Spark's RDD, for those who read Spark's rows and hash them as they do."""
    types = _types(batch)
    columns = _columns(types, topic)
    if cut is Cut.KEYS:
        shuffled = _cut(batch, cut, lanes, columns, [])
        return rdd_of(shuffled), _places(dict(shuffled.dtypes))
    places = _places(types)
    return rows_as_they_are(batch), {name: places[name] for name in columns}


def _cut(
    batch: "DataFrame", cut: Cut, lanes: int, columns: Mapping[str, str], more: list[str]
) -> "DataFrame":
    # As text, in one call: Spark parses it in a twentieth of what its Python columns cost.
    expressions = [f"{column} AS `{name}`" for name, column in columns.items()]
    expressions += more
    if cut is not Cut.KEYS:
        return batch.selectExpr(*expressions)
    by = f"coalesce({columns['key']}, {columns['value']})" if "key" in columns else columns["value"]
    expressions += [f"{by} AS __by", f"pmod(hash({by}), {lanes}) AS {LANE_COLUMN}"]
    return batch.selectExpr(*expressions).repartition(lanes, "__by").drop("__by")


def _types(batch: "DataFrame") -> dict[str, str]:
    names = [name for name, _ in batch.dtypes]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SinkError(f"the batch has more than one column {', '.join(twice)}")
    return dict(batch.dtypes)


def _columns(types: Mapping[str, str], topic: str | None) -> dict[str, str]:
    """The columns to write, each as Kafka has it."""
    names = list(types)
    unknown = sorted(set(names) - set(_KINDS))
    if "value" not in names or unknown:
        raise SinkError(
            "the batch must have the column value, and may have key, headers, topic, partition;"
            f" got {', '.join(names)}"
        )
    if topic is None and "topic" not in names:
        raise SinkError("no topic: give topic=… or a column topic")
    for name, kind in types.items():
        if _plain_kind(kind) not in _TAKEN[name]:
            wanted = " or ".join(sorted(_TAKEN[name]))
            raise SinkError(f"the column {name} must be {wanted}; got {kind}: cast it")
    return {
        name: f"CAST(`{name}` AS {kind})"
        for name, kind in _KINDS.items()
        # As in Spark's sink the option overrides the column.
        if name in names and not (name == "topic" and topic is not None)
    }


def _places(types: Mapping[str, str]) -> dict[str, Column]:
    return {
        name: Column(at=place, kind="string" if _is_text(kind) else kind)
        for place, (name, kind) in enumerate(types.items())
    }


def _is_text(kind: str) -> bool:
    return _plain_kind(kind) in _TEXT


def _plain_kind(kind: str) -> str:
    """Without the length of a varchar, or the collation of a string."""
    return kind if kind == _HEADERS else kind.split("(", maxsplit=1)[0].split(" ", maxsplit=1)[0]


def hash_expression(columns: Mapping[str, str], topic: str | None) -> str:
    parts = ", ".join(part for name in _KINDS for part in _hashed(columns, name, topic))
    return f"xxhash64({parts}) AS {HASH_COLUMN}"


def _hashed(columns: Mapping[str, str], name: str, topic: str | None) -> list[str]:
    """What of a column goes into the hash. Spark's hash passes over nulls: they are said apart."""
    if name == "topic" and topic is not None:
        return ["false", f"X'{topic.encode().hex()}'"]
    if name not in columns:
        return ["0" if name == "headers" else "true"]
    column = columns[name]
    if name == "topic":
        return [f"{column} IS NULL", f"CAST({column} AS BINARY)"]
    if name == "headers":
        framed = "struct(CAST(header.key AS BINARY), header.value IS NULL, header.value)"
        # In Kafka a record without headers and one with an empty list of them are the same.
        return [
            f"CASE WHEN {column} IS NULL THEN 0 ELSE size({column}) END",
            f"transform({column}, header -> {framed})",
        ]
    return [f"{column} IS NULL", column]
