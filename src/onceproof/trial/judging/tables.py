"""What a run directory holds, as Spark tables; kept in memory until the judgement is over."""

import json
from typing import TYPE_CHECKING

from onceproof.history.run_directory import RunDirectory
from onceproof.history.schemas import EVENTS, FRAMES, POSITIONS
from onceproof.trial.judging.small import is_small, rows_stored

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

POSITIONS_FILE = "positions.json"
WIRE_PARTS = "*.parquet"  # one that is being written has another name


class Tables:
    def __init__(self, spark: "SparkSession", directory: RunDirectory) -> None:
        self._spark = spark
        self._history = directory.history
        self._directory = directory
        self._kept: list[DataFrame] = []
        self.rows = rows_stored(self._history / "input", self._history / "output")

    def records(self, name: str) -> "DataFrame":
        """`input` or `output`."""
        return self.keep(self._spark.read.parquet(str(self._history / name)))

    def stored(self, name: str) -> "DataFrame | None":
        """The log batch by batch, or the commits of the group, if they were read."""
        folder = self._history / name
        return self.keep(self._spark.read.parquet(str(folder))) if folder.exists() else None

    def frames(self) -> "DataFrame | None":
        """What the proxy has on disk: whole parts, so it is all there was up to some moment."""
        folder = self._directory.wire
        if not any(folder.glob(WIRE_PARTS)):
            return None
        parts = self._spark.read.schema(FRAMES).option("pathGlobFilter", WIRE_PARTS)
        return self.keep(parts.parquet(str(folder)))

    def events(self) -> "DataFrame":
        return self.keep(self._spark.read.schema(EVENTS).json(str(self._directory.events)))

    def positions(self) -> "DataFrame | None":
        stored = load_positions(self._directory)
        if stored is None:
            return None
        return self.keep(self._spark.createDataFrame(list(stored.items()), POSITIONS))

    def keep(self, table: "DataFrame") -> "DataFrame":
        """It is asked by check after check. A small one is one partition (small.py)."""
        kept = (table.coalesce(1) if is_small(self.rows) else table).cache()
        self._kept.append(kept)
        return kept

    def release(self) -> None:
        for table in self._kept:
            table.unpersist()


def save_positions(directory: RunDirectory, position: dict[int, int] | None) -> None:
    text = json.dumps(None if position is None else {str(key): n for key, n in position.items()})
    (directory.history / POSITIONS_FILE).write_text(text + "\n")


def load_positions(directory: RunDirectory) -> dict[int, int] | None:
    stored = json.loads((directory.history / POSITIONS_FILE).read_text(encoding="utf-8"))
    return None if stored is None else {int(key): n for key, n in stored.items()}
