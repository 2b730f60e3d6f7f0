"""What is judged. The checks know this and nothing of brokers, suspects or runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

SUSPECTS_LISTENER = "suspects"
STUCK_AFTER_S_DEFAULT = 30.0


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """Frames of one api."""

    undecoded: str | None  # one that could not be decoded
    instances: int  # how many of them are known to have taken part


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
    def traffic(self) -> Mapping[str, Traffic]:
        """By api, what suspects and brokers said to each other. Asked of Spark once."""
        from pyspark.sql import functions as F

        if self.frames is None:
            return {}
        riddle = F.when(~F.col("decoded"), F.struct("connection", "version"))
        rows = (
            self.frames.where(F.col("listener") == SUSPECTS_LISTENER)
            .groupBy("api")
            .agg(F.min(riddle).alias("riddle"), F.count_distinct("instance").alias("instances"))
        )
        return {row["api"]: _traffic(row) for row in rows.collect()}


def _traffic(row: Row) -> Traffic:
    riddle, told = row["riddle"], None
    if riddle is not None:
        told = (
            f"a frame of connection {riddle['connection']} could not be decoded:"
            f" {row['api']} v{riddle['version']}"
        )
    return Traffic(undecoded=told, instances=row["instances"])
