"""Runs on the driver. What the sink asks of Spark: the query's id, and a job."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from onceproof.sink.errors import LaneError, SinkError
from onceproof.sink.reports import REPORT_SCHEMA, LaneReport
from onceproof.sink.task import Task, task_function

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame, SparkSession

# Signs, in what Spark says about a failed job, that the sink or its surroundings failed.
_WORTH_ANOTHER_PASS = (
    "sink.errors.LaneError",
    "Python worker",
    "ExecutorLostFailure",
    "EOFError",
    "spark.driver.maxResultSize",  # a batch that was expected to be small
)


def query_of(session: "SparkSession") -> str:
    """The streaming query's id, which lives in its checkpoint."""
    query = session.sparkContext.getLocalProperty("sql.streaming.queryId")
    if query is None:
        raise SinkError("not inside a streaming query; expected to be called by foreachBatch")
    return query


def run_tasks(rows: "DataFrame", task: Task) -> list[LaneReport]:
    """One report of each partition that has rows."""
    with _failures_told_apart():
        found: list[Any] = rows.mapInArrow(task_function(task), REPORT_SCHEMA).collect()
    return [LaneReport(**_plain(row.asDict())) for row in found]


def collect_rows(rows: "DataFrame") -> "list[pyarrow.RecordBatch]":
    """All rows, partition after partition. Spark's JVMs alone compute them, no Python worker."""
    with _failures_told_apart():
        collected: Any = rows  # toArrow() would do the same, but Spark 3.5 has it not
        return list(collected._collect_as_arrow())


@contextmanager
def _failures_told_apart() -> Iterator[None]:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        text = str(error)
        if any(sign in text for sign in _WORTH_ANOTHER_PASS):
            raise LaneError(text) from error
        raise  # the query's own failure, which is not ours to repeat


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    carried = values["carried"]
    return {**values, "carried": None if carried is None else bytes(carried)}
