"""Places and values as a sentence shows them: out-0@401."""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F

VALUE_LENGTH_MAX = 200


def place(facts: Mapping[str, Any], prefix: str = "") -> str:
    """topic-partition@offset out of the three columns that begin with `prefix`."""
    topic, partition, offset = (
        facts[f"{prefix}{name}"] for name in ("topic", "partition", "offset")
    )
    return f"{topic}-{partition}@{offset}"


def shown(value: str | Column) -> Column:
    """A value, cut to what a person reads; find() hands out no other."""
    column = F.col(value) if isinstance(value, str) else value
    return F.substring(column, 1, VALUE_LENGTH_MAX)
