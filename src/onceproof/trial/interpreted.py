"""Spark without code generation, for small inputs.

Each check is a query of its own, and Spark compiles Java code for each of its stages: on a few
thousand rows that takes far longer than the query. Interpreted, a judgement takes half the time.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS_MAX = 50_000
INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


def rows_stored(*folders: Path) -> int:
    """As Parquet's own counts tell it."""
    import pyarrow.dataset

    return sum(pyarrow.dataset.dataset(each, format="parquet").count_rows() for each in folders)


@contextmanager
def interpreted_if_small(spark: "SparkSession", rows: int) -> Iterator[None]:
    if rows > ROWS_MAX:
        yield
        return
    before = {name: spark.conf.get(name, None) for name in INTERPRETED}
    for name, value in INTERPRETED.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, old in before.items():
            if old is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, old)
