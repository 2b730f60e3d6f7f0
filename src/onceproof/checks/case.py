"""What is judged. The checks know this and nothing of brokers, suspects or runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SUSPECTS_LISTENER = "suspects"
STUCK_AFTER_S_DEFAULT = 30.0


@dataclass(frozen=True, kw_only=True)
class Case:
    """DataFrames by history/schemas.py. Cache expected and observed: each check reads them again.

    Positions must be read before the output: a record passed in between would look lost.
    """

    expected: DataFrame
    observed: DataFrame
    positions: DataFrame | None = None  # None, or a partition without a row: not known
    batches: DataFrame | None = None  # None: the log was not read batch by batch
    commits: DataFrame | None = None  # None: the log of the groups' offsets was not read
    events: DataFrame | None = None  # None: there was no run, only topics
    frames: DataFrame | None = None  # None: the wire was not recorded
    began_at_s: float | None = (
        None  # by the clock of the frames: 0 s of the events; None: not known
    )
    cumulative: bool = False  # an output tells the state so far (fold)
    transactional: bool | None = None  # the suspect writes in transactions only; None: not known
    # Committed offsets of a consumer group are its position; None: not known.
    offsets_in_group: bool | None = None
    ordered: bool = True  # the suspect promises the order of each key
    settled: bool = True  # nothing moved any more: what has not come out is not merely late
    stuck_after_s: float = STUCK_AFTER_S_DEFAULT

    @cached_property
    def undecoded(self) -> Mapping[str, str]:
        """Of the suspects' frames: api → one that could not be decoded. Looked for once."""
        from pyspark.sql import functions as F

        if self.frames is None:
            return {}
        riddles = self.frames.where((F.col("listener") == SUSPECTS_LISTENER) & ~F.col("decoded"))
        one_each = riddles.groupBy("api").agg(F.min(F.struct("connection", "version")).alias("one"))
        return {
            row["api"]: f"a frame of connection {row['one']['connection']} could not be decoded:"
            f" {row['api']} v{row['one']['version']}"
            for row in one_each.collect()
        }
