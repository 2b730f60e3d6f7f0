"""Runs on the driver. What the sink asks of Spark: the query's id, and a job."""

import uuid
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from threading import Event
from typing import TYPE_CHECKING, Any

from onceproof.sink.background import Background
from onceproof.sink.errors import LaneError, RefusedError, SinkError, UncollectedError
from onceproof.sink.pieces import small_pieces
from onceproof.sink.reports import REPORT_SCHEMA, LaneReport
from onceproof.sink.task import Task, probe, task_function

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame, SparkSession

LOST_PAUSE_S = 0.2
_FAILED_LANES: list[type[LaneError]] = [LaneError, *LaneError.__subclasses__()]
# Signs, in what Spark says about a failed job, that the sink or its surroundings failed.
_WORTH_ANOTHER_PASS = (
    *(f"sink.errors.{kind.__name__}" for kind in _FAILED_LANES),
    "Python worker exited",  # not: an exception in one, which is the query's
    "Python worker failed to connect",
    "Python worker to connect back",
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


def require_clients(session: "SparkSession") -> None:
    """RefusedError naming an executor that lacks what a lane needs. Batches in lanes may be rare:
    the first batch is a better moment to learn of it than some night.
    """
    context = session.sparkContext
    if str(context.master).startswith("local"):  # this very Python, which has it
        return
    tasks = int(context.defaultParallelism)
    with failures_told_apart():
        found: list[Any] = (
            session.range(0, tasks, 1, tasks).mapInArrow(probe, "lacks string").limit(1).collect()
        )
    if found:
        raise RefusedError(found[0]["lacks"])


def speculates(session: "SparkSession") -> bool:
    """Whether Spark may run a task twice at once."""
    return str(session.conf.get("spark.speculation", "false")).lower() == "true"


@contextmanager
def cancelled_if(session: "SparkSession", is_lost: Callable[[], bool]) -> Iterator[None]:
    """Jobs that this thread begins are cancelled as soon as it is known that they are for nothing.

    Asked again and again: a job may begin only after that.
    """
    context, tag, is_over = session.sparkContext, f"onceproof-{uuid.uuid4().hex}", Event()

    def watch() -> None:
        while not is_over.wait(LOST_PAUSE_S):
            if is_lost():
                context.cancelJobsWithTag(tag)

    context.addJobTag(tag)
    Background(watch)
    try:
        yield
    finally:
        is_over.set()
        context.removeJobTag(tag)


def run_tasks(rows: "DataFrame", task: Task) -> list[LaneReport]:
    """One report of each partition that has rows."""
    with failures_told_apart(), small_pieces(rows.sparkSession):
        found: list[Any] = rows.mapInArrow(task_function(task), REPORT_SCHEMA).collect()
    return [LaneReport(**_plain(row.asDict())) for row in found]


def collect_rows(rows: "DataFrame") -> "Generator[pyarrow.RecordBatch, None, None]":
    """All rows, each partition's as soon as it is computed. Spark's JVMs alone compute them.

    `toArrow()` keeps what it has until the last partition has come; the JVM sends each when it is
    done, in any order, so that the first are written while the others are computed.
    """
    import pyarrow
    from py4j.protocol import Py4JError
    from pyspark.sql.pandas.serializers import ArrowCollectSerializer

    with failures_told_apart(UncollectedError):
        where, secret, server = rows._jdf.collectAsArrowToPython()
        file, connection = _connect()(where, secret)
        connection.settimeout(None)  # a batch takes what it takes
        is_wanted = True
        try:
            for batch in ArrowCollectSerializer().load_stream(file):  # type: ignore[no-untyped-call]
                if isinstance(batch, pyarrow.RecordBatch):  # the last is the order of the others
                    yield batch
        except GeneratorExit:
            is_wanted = False  # the job fails of it, and that is no news
            raise
        finally:
            file.close()
            connection.close()
            with _unwrapped() if is_wanted else suppress(Py4JError):
                server.getResult()  # waits for the job, and tells how it failed


def _connect() -> Callable[[Any, Any], Any]:
    try:
        from pyspark.util import local_connect_and_auth
    except ImportError:  # before Spark 4
        from pyspark.java_gateway import local_connect_and_auth  # type: ignore[attr-defined]
    return local_connect_and_auth


def _unwrapped() -> AbstractContextManager[Any]:
    """A failure as the job had it, not as that of the wait for it."""
    try:
        from pyspark.errors.exceptions.captured import unwrap_spark_exception
    except ImportError:  # Spark 3.5 tells it by its cause
        return nullcontext()
    return unwrap_spark_exception()


@contextmanager
def failures_told_apart(kind: type[LaneError] = LaneError) -> Iterator[None]:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        text = str(error)
        if any(sign in text for sign in _WORTH_ANOTHER_PASS):
            raise kind(text) from error
        raise  # the query's own failure, which is not ours to repeat


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    carried = values["carried"]
    return {**values, "carried": None if carried is None else bytes(carried)}
