"""Runs in a spare. What every first micro-batch pays for, done on made-up rows: no broker is asked.

Streaming engine, state store, Python workers and their imports: seconds that an instance taken from
a spare does not spend between its start and its first transaction.
"""

import importlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame, SparkSession

BATCH_S_MAX = 30.0


def warm_up(session: "SparkSession", folder: Path) -> None:
    done = threading.Event()

    def first_batch(batch: "DataFrame", _batch_id: int) -> None:
        batch.mapInArrow(_with_the_sinks_imports, "bucket long, count long").collect()
        done.set()

    rates = session.readStream.format("rate").option("rowsPerSecond", 10).load()
    counts = rates.selectExpr("value % 4 AS bucket").groupBy("bucket").count()
    query = (
        counts.writeStream.outputMode("update")
        .option("checkpointLocation", str(folder / "warm-up"))
        .foreachBatch(first_batch)
        .start()
    )
    done.wait(BATCH_S_MAX)
    query.stop()


def _with_the_sinks_imports(
    batches: "Iterator[pyarrow.RecordBatch]",
) -> "Iterator[pyarrow.RecordBatch]":
    importlib.import_module("onceproof.sink.lane")
    yield from batches
