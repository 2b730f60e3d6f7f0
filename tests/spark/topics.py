"""Topics written by hand: rows of RECORDS without a broker."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, NamedTuple

from pyspark.sql import DataFrame, SparkSession

from onceproof.history.schemas import RECORDS

AT = datetime(2026, 1, 1, tzinfo=UTC)


class Record(NamedTuple):
    partition: int
    offset: int
    key: str | None
    value: str | None


def topic(spark: SparkSession, name: str, records: Iterable[Record]) -> DataFrame:
    rows = [(name, r.partition, r.offset, AT, r.key, r.value) for r in records]
    return spark.createDataFrame(rows, RECORDS)


def fed(partition: int, offset: int, key: str, seq: int, value: int = 0) -> Record:
    """An input record as the injector writes it."""
    return Record(partition, offset, key, compact(id=f"{key}-{seq}", seq=seq, value=value))


def compact(**fields: Any) -> str:
    return json.dumps(fields, separators=(",", ":"))
