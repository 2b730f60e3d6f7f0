"""Runs on the driver. Whether a batch's partitions hold the same rows in every replay.

They do, up to their order, in two kinds of plan, told by the lineage of the batch:

    narrow steps over StateStoreRDD    rows are where their state is: hash of the grouping key, and
                                       the number of state partitions is fixed in the checkpoint
    narrow steps over Kafka's source   one range of offsets a partition, and the ranges are in the
                                       checkpoint; they may come in another order

Everything else (a shuffle AQE may coalesce, files, unions) is not, and is cut by keys.
"""

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_NARROW = {"MapPartitionsRDD", "MapPartitionsWithEvaluatorRDD", "SQLExecutionRDD"}
_STATE = {"StateStoreRDD", "StateStoreAwareZipPartitionsRDD"}
_SOURCE = "DataSourceRDD"
_KAFKA_PARTITION = "KafkaBatchInputPartition"
LINEAGE_STEPS_MAX = 100


def stable_partitions(batch: "DataFrame") -> int | None:
    """Their number, or None where they are not known to be stable."""
    rdd: Any = batch._jdf.queryExecution().toRdd()
    steps = lineage(rdd.toDebugString())
    end = first_wide_step(steps)
    if end in _STATE or (end == _SOURCE and _reads_kafka(rdd)):
        return int(rdd.getNumPartitions())
    return None


def lineage(debug_string: str) -> list[str]:
    """The classes of the RDDs, the last step first. Pure."""
    return re.findall(r"(\w+RDD)\[\d+\]", debug_string)


def first_wide_step(steps: list[str]) -> str | None:
    """The first that is not a narrow one-to-one step; a source only where it is the only one."""
    for place, step in enumerate(steps):
        if step in _STATE:
            return step
        if step not in _NARROW:
            return step if place == len(steps) - 1 else None
    return None


def _reads_kafka(rdd: Any) -> bool:
    for _ in range(LINEAGE_STEPS_MAX):
        dependencies = rdd.dependencies()
        if dependencies.isEmpty():
            break
        rdd = dependencies.head().rdd()
    partitions = rdd.partitions()
    return len(partitions) > 0 and _kind_of_input(partitions[0]) == _KAFKA_PARTITION


def _kind_of_input(partition: Any) -> str | None:
    """The class of what one partition reads: an Option since Spark 4.2, a Seq before."""
    from py4j.protocol import Py4JError

    for field in ("inputPartition", "inputPartitions"):
        with suppress(Py4JError):
            inputs = getattr(partition, field)().toList()
            return str(inputs.head().getClass().getSimpleName()) if inputs.size() == 1 else None
    return None
