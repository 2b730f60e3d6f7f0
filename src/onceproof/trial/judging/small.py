"""How Spark judges a few thousand rows: without what pays off only for many.

Each check is a query of its own. On small inputs nearly all of its time goes into compiling Java
code for it, into shuffles between tasks of a few rows, and into planning again on the way. So a
small input is one partition (no exchange is needed then), and its queries are interpreted as
planned: half the time of a judgement.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS_MAX = 50_000
SETTINGS = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    # A broadcast is a job of its own; in one partition a plain join needs none.
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.optimizer.disableHints": "true",
}


def rows_stored(*folders: Path) -> int:
    """As Parquet's own counts tell it."""
    import pyarrow.dataset

    return sum(pyarrow.dataset.dataset(each, format="parquet").count_rows() for each in folders)


def is_small(rows: int) -> bool:
    return rows <= ROWS_MAX


@contextmanager
def settings_if_small(spark: "SparkSession", rows: int) -> Iterator[None]:
    if not is_small(rows):
        yield
        return
    before = {name: spark.conf.get(name, None) for name in SETTINGS}
    for name, value in SETTINGS.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, old in before.items():
            if old is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, old)
