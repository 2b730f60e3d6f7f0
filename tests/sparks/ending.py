"""A user's program of two jobs, one whose rows break off in Spark's JVM and one whose do not.

It prints what a task of the sink took for its rows: "20000 and no end", "45000 and the end";
"neither" where PySpark itself found the rows broken.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow
from pyspark.sql import SparkSession

from onceproof.sink.errors import CutOffError
from onceproof.sink.spark_end import UntilSparkEnds

ROWS = 45_000
BREAKS_OFF_AT = 25_000  # an Arrow batch has 10,000
AWAIT_S_MAX = 10.0
ASK_S = 0.1


def main() -> int:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .getOrCreate()
    )
    with tempfile.TemporaryDirectory() as folder:
        for name, column in (
            ("broken", f"IF(id = {BREAKS_OFF_AT}, raise_error('broke'), 'v') AS value"),
            ("whole", "'v' AS value"),
        ):
            rows = session.range(0, ROWS, 1, 1).selectExpr("id", column)
            note = Path(folder) / name
            try:
                rows.mapInArrow(counted(note), "rows long").collect()
            except Exception as error:
                if "broke" not in str(error):
                    raise
            say(f"{session.version} {name}: {await_text(note)}")
    session.stop()
    return 0


def counted(
    note: Path,
) -> Callable[[Iterator[pyarrow.RecordBatch]], Iterator[pyarrow.RecordBatch]]:
    def count(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        rows = 0
        try:
            for batch in UntilSparkEnds(batches):
                rows += batch.num_rows
            note.write_text(f"{rows} and the end.")
        except CutOffError:
            note.write_text(f"{rows} and no end.")
            raise
        yield pyarrow.RecordBatch.from_pylist([{"rows": rows}])

    return count


def await_text(note: Path) -> str:
    """The worker may still be at it when its job has failed."""
    for _ in range(int(AWAIT_S_MAX / ASK_S)):
        if note.exists() and note.read_text().endswith("."):
            return note.read_text()[:-1]
        time.sleep(ASK_S)
    return "neither"


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
