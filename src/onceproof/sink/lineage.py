"""Runs on the driver. What Spark's own RDDs tell about a batch before it is computed."""

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

STEPS_MAX = 100
PARTITIONS_MAX = 64  # two calls into the JVM each
_KAFKA_RANGE = re.compile(r"KafkaBatchInputPartition\(KafkaOffsetRange\(.+?-\d+,(\d+),(\d+),")


def rdd_of(batch: "DataFrame") -> Any:
    return batch._jdf.queryExecution().toRdd()


def steps(rdd: Any) -> list[str]:
    """The classes of the RDDs, the last step first."""
    return classes_in(rdd.toDebugString())


def classes_in(debug_string: str) -> list[str]:
    """Pure."""
    return re.findall(r"(\w+RDD)\[\d+\]", debug_string)


def records_to_read(batch: "DataFrame") -> int | None:
    """How many of Kafka's records the batch reads; None where it reads anything else as well."""
    total, sources = 0, _sources(rdd_of(batch))
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


def first_input(rdd: Any) -> str:
    """What the first partition of a chain's source reads, as text."""
    sources = _sources(rdd)
    partitions = list(sources[0].partitions()) if sources else []
    return input_of(partitions[0]) if partitions else ""


def records_in(reads: str) -> int | None:
    """The length of a range of Kafka's offsets, as Spark writes it; None: not one range. Pure."""
    found = _KAFKA_RANGE.findall(reads)
    if len(found) != 1:
        return None
    start, until = map(int, found[0])
    return until - start


def input_of(partition: Any) -> str:
    """What a partition of a source reads: an Option of it since Spark 4.2, a Seq before."""
    from py4j.protocol import Py4JError

    for field in ("inputPartition", "inputPartitions"):
        with suppress(Py4JError):
            return str(getattr(partition, field)().toString())
    return ""


def _sources(rdd: Any) -> list[Any] | None:
    """What the batch begins with; None where its lineage is too long to look through."""
    waiting: list[Any] = [rdd]
    found: list[Any] = []
    for _ in range(STEPS_MAX):
        if not waiting:
            return found
        step = waiting.pop()
        dependencies = step.dependencies()
        places = range(dependencies.size())
        if not places:
            found.append(step)
        waiting += [dependencies.apply(place).rdd() for place in places]
    return None
