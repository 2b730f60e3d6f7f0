"""Runs on the driver. What Spark's own RDDs tell about a batch before it is computed."""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

STEPS_MAX = 100
PARTITIONS_MAX = 64  # two calls into the JVM each
_AS_SPARK_MADE_IT = "org.apache.spark.sql.execution.LogicalRDD"
_SHUFFLE = "org.apache.spark.ShuffleDependency"
_KAFKA_RANGE = re.compile(r"KafkaBatchInputPartition\(KafkaOffsetRange\((.+?-\d+),(\d+),(\d+),")


def rdd_of(batch: "DataFrame") -> Any:
    return batch._jdf.queryExecution().toRdd()


def rows_as_they_are(batch: "DataFrame") -> Any:
    """Its RDD; of a batch that nothing was done to since Spark made it, without the copy of each
    row that Spark's own reading of it makes. One that the user persists is read from there.
    """
    plan = batch._jdf.queryExecution().withCachedData()
    return plan.rdd() if plan.getClass().getName() == _AS_SPARK_MADE_IT else rdd_of(batch)


def steps(rdd: Any) -> list[str]:
    """The classes of the RDDs, the last step first."""
    return classes_in(rdd.toDebugString())


def classes_in(debug_string: str) -> list[str]:
    """Pure."""
    return re.findall(r"(\w+RDD)\[\d+\]", debug_string)


def leaf_rdds(batch: "DataFrame") -> list[Any]:
    """What Spark made of the stream, below whatever was done to the batch since. Nothing is planned
    for that, and nothing computed. Py4JError where the batch reads anything else as well.
    """
    leaves = batch._jdf.queryExecution().analyzed().collectLeaves()
    return [leaves.apply(place).rdd() for place in range(leaves.size())]


def records_to_read(batch: "DataFrame") -> int | None:
    """How many of Kafka's records the batch reads; None where it reads anything else as well."""
    from py4j.protocol import Py4JError

    total = 0
    try:
        sources = _sources(leaf_rdds(batch))
    except Py4JError:
        return None
    if sources is None:
        return None
    for source in sources:
        partitions = source.partitions()
        if len(partitions) > PARTITIONS_MAX:
            return None
        for partition in partitions:
            records = records_in(input_of(partition))
            if records is None:
                return None
            total += records
    return total


def last_shuffles(rdds: Sequence[Any]) -> list[Any]:
    """The dependencies on a shuffle that come first on the way back from the RDDs."""
    waiting = list(rdds)
    found: list[Any] = []
    for _ in range(STEPS_MAX):
        if not waiting:
            return found
        for dependency in _dependencies(waiting.pop()):
            if dependency.getClass().getName() == _SHUFFLE:
                found.append(dependency)
            else:
                waiting.append(dependency.rdd())
    return []


def ranges_read(rdd: Any) -> tuple[str, ...] | None:
    """What each partition of a chain reads of Kafka, in their order; None: anything else."""
    sources = _sources([rdd])
    partitions = sources[0].partitions() if sources else []
    ranges = [range_in(input_of(partition)) for partition in partitions]
    return tuple(str(each) for each in ranges) if ranges and None not in ranges else None


@dataclass(frozen=True, kw_only=True)
class Range:
    """Offsets of one partition of a topic. As text: the name it has in every replay."""

    partition: str
    start: int
    until: int

    def __str__(self) -> str:
        return f"{self.partition}@{self.start}..{self.until}"


def records_in(reads: str) -> int | None:
    """The length of a range of Kafka's offsets, as Spark writes it; None: not one range. Pure."""
    found = range_in(reads)
    return None if found is None else found.until - found.start


def range_in(reads: str) -> Range | None:
    """Pure."""
    found = _KAFKA_RANGE.findall(reads)
    if len(found) != 1:
        return None
    partition, start, until = found[0]
    return Range(partition=partition, start=int(start), until=int(until))


def input_of(partition: Any) -> str:
    """What a partition of a source reads: an Option of it since Spark 4.2, a Seq before."""
    from py4j.protocol import Py4JError

    for field in ("inputPartition", "inputPartitions"):
        with suppress(Py4JError):
            return str(getattr(partition, field)().toString())
    return ""


def _sources(rdds: Sequence[Any]) -> list[Any] | None:
    """What they begin with; None where their lineage is too long to look through."""
    waiting = list(rdds)
    found: list[Any] = []
    for _ in range(STEPS_MAX):
        if not waiting:
            return found
        step = waiting.pop()
        before = [dependency.rdd() for dependency in _dependencies(step)]
        if not before:
            found.append(step)
        waiting += before
    return None


def _dependencies(rdd: Any) -> list[Any]:
    found = rdd.dependencies()
    return [found.apply(place) for place in range(found.size())]
