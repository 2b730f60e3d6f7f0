"""Runs on the driver. Whether a batch's partitions hold the same rows in every replay.

They do in two kinds of plan, told by the lineage of the batch. A partition's name is what it reads:

    narrow steps over StateStoreRDD    rows are where their state is: hash of the grouping key, and
                                       the number of state partitions is fixed in the checkpoint
    narrow steps over Kafka's source   one range of offsets a partition, and the ranges are in the
                                       checkpoint; they may come in another order, so a partition's
                                       index is no name

Everything else (a shuffle AQE may coalesce, files, unions) is not, and is cut by keys.
"""

from typing import TYPE_CHECKING

from onceproof.sink.lineage import ranges_read, rdd_of, steps

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_NARROW = {"MapPartitionsRDD", "MapPartitionsWithEvaluatorRDD", "SQLExecutionRDD"}
_STATE = {"StateStoreRDD", "StateStoreAwareZipPartitionsRDD"}
_SOURCE = "DataSourceRDD"


def stable_sources(batch: "DataFrame", partitions_max: int) -> tuple[str, ...] | None:
    """The name of each partition, in their order; None where they are more, or not known to be
    stable.
    """
    rdd = rdd_of(batch)
    partitions = int(rdd.getNumPartitions())
    if not 1 <= partitions <= partitions_max:
        return None
    end = first_wide_step(steps(rdd))
    if end in _STATE:
        return tuple(f"state {number:05}" for number in range(partitions))
    return ranges_read(rdd) if end == _SOURCE else None


def first_wide_step(found: list[str]) -> str | None:
    """The first that is not a narrow one-to-one step; a source only where it is the only one."""
    for place, step in enumerate(found):
        if step in _STATE:
            return step
        if step not in _NARROW:
            return step if place == len(found) - 1 else None
    return None
