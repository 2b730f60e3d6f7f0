"""What Spark begins before the sink has asked for a row: once, and no longer than it is wanted."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import StreamingQuery

from onceproof.deadline import Deadline, wait_until
from onceproof.sink.early import EarlyStages

WAIT_S_MAX = 60.0
ROWS = 20


class Counted:
    """A stream of rows, folded by their remainder; how many went through before the shuffle."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark = spark
        self._folder = folder
        self._passed = spark.sparkContext.accumulator(0)
        spark.range(0, ROWS, 1, 2).write.parquet(str(folder / "input"))

    def passed(self) -> int:
        return self._passed.value

    def wait_for_all(self) -> None:
        wait_until(lambda: self.passed() == ROWS, Deadline(WAIT_S_MAX), "nothing was begun")

    def run(
        self,
        batch_writer: Callable[[DataFrame, int], None],
        then: Callable[[], None] = lambda: None,
    ) -> None:
        self.start(batch_writer, then).awaitTermination(WAIT_S_MAX)

    def start(
        self, batch_writer: Callable[[DataFrame, int], None], then: Callable[[], None]
    ) -> StreamingQuery:
        passed = self._passed

        def number(found: int) -> int:
            then()
            passed.add(1)
            return found % 3

        source = self._spark.readStream.schema("id long").parquet(str(self._folder / "input"))
        key = F.udf(number, "long", useArrow=False)("id").alias("key")
        folded = source.select(key).groupBy("key").count()
        writer = folded.writeStream.outputMode("update").foreachBatch(batch_writer)
        checkpoint = str(self._folder / "checkpoint")
        return writer.option("checkpointLocation", checkpoint).trigger(availableNow=True).start()


class Jobs:
    def __init__(self, spark: SparkSession) -> None:
        self._tracker = spark.sparkContext.statusTracker()

    def wait_for_some(self) -> None:
        wait_until(self._are_there, Deadline(WAIT_S_MAX), "nothing was begun")

    def wait_for_none(self) -> None:
        wait_until(lambda: not self._are_there(), Deadline(WAIT_S_MAX), "it goes on")

    def _are_there(self) -> bool:
        return len(self._tracker.getActiveJobsIds()) > 0


@pytest.fixture
def counted(spark: SparkSession, tmp_path: Path) -> Iterator[Counted]:
    yield Counted(spark, tmp_path)
    assert list(spark.sparkContext.statusTracker().getActiveJobsIds()) == []


def counts_of(batch: DataFrame) -> list[int]:
    return sorted(row["count"] for row in batch.collect())


def test_what_comes_before_the_shuffle_is_computed_unasked_and_once(counted: Counted) -> None:
    seen = []

    def write(batch: DataFrame, _: int) -> None:
        EarlyStages(batch)
        counted.wait_for_all()
        seen.append(counts_of(batch))

    counted.run(write)
    assert (seen, counted.passed()) == ([[6, 7, 7]], ROWS)


def test_a_batch_that_the_user_has_transformed_begins_early_too(counted: Counted) -> None:
    seen = []

    def write(batch: DataFrame, _: int) -> None:
        transformed = batch.selectExpr("count * 2 AS count").where("count > 12")
        EarlyStages(transformed)
        counted.wait_for_all()
        seen.append(counts_of(transformed))

    counted.run(write)
    assert (seen, counted.passed()) == ([[14, 14]], ROWS)


def test_what_fails_early_is_the_querys_own_failure(counted: Counted) -> None:
    def fail() -> None:
        raise ValueError("not today")

    def write(batch: DataFrame, _: int) -> None:
        EarlyStages(batch)
        counts_of(batch)

    with pytest.raises(StreamingQueryException, match="not today"):
        counted.run(write, then=fail)


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Callable[[], None]]:
    """Rows that do not pass until the test is over."""
    sign = tmp_path / "sign"
    yield lambda: wait_until(sign.exists, Deadline(WAIT_S_MAX), "never let go")
    sign.touch()


@pytest.fixture
def jobs(spark: SparkSession) -> Jobs:
    return Jobs(spark)


def test_what_nobody_wants_any_more_ends(
    counted: Counted, held: Callable[[], None], jobs: Jobs
) -> None:
    def write(batch: DataFrame, _: int) -> None:
        early = EarlyStages(batch)
        jobs.wait_for_some()
        early.cancel()
        jobs.wait_for_none()
        raise ValueError("somebody else owns this sink")

    with pytest.raises(StreamingQueryException, match="somebody else owns this sink"):
        counted.run(write, then=held)
    assert counted.passed() == 0


def test_it_ends_with_its_query(counted: Counted, held: Callable[[], None], jobs: Jobs) -> None:
    seen = []

    def write(batch: DataFrame, _: int) -> None:
        EarlyStages(batch)
        jobs.wait_for_some()
        seen.append("it runs")
        jobs.wait_for_none()
        seen.append("it has ended")

    query = counted.start(write, then=held)
    wait_until(lambda: bool(seen), Deadline(WAIT_S_MAX), "nothing was begun")
    query.stop()
    assert (seen, counted.passed()) == (["it runs", "it has ended"], 0)
