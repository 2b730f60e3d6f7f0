"""How the rows of a small batch come to the driver: each partition's as soon as it is computed."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow
import pytest
from pyspark.sql import DataFrame, SparkSession

from onceproof.deadline import Deadline, wait_until
from onceproof.sink.errors import UncollectedError
from onceproof.sink.execution import collect_rows

WAIT_S_MAX = 60.0
LONG = "x" * 500_000  # more than the buffers on the way
A_ROW_A_BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"


@pytest.fixture
def finely(spark: SparkSession) -> Iterator[SparkSession]:
    """A partition's last batch stays in a buffer until more comes: so it has two."""
    usual = spark.conf.get(A_ROW_A_BATCH)
    assert usual is not None
    spark.conf.set(A_ROW_A_BATCH, "1")
    yield spark
    spark.conf.set(A_ROW_A_BATCH, usual)


def two_partitions(spark: SparkSession, sign: Path, *, then: str = "") -> DataFrame:
    """Two rows each; the second has its rows when `sign` is there, or fails then."""

    def work(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        for batch in batches:
            for number in batch.column("id").to_pylist():
                if number == 2:
                    wait_until(sign.exists, Deadline(WAIT_S_MAX), "nobody has read the first row")
                    if then:
                        raise ValueError(then)
                yield pyarrow.RecordBatch.from_pylist([{"id": number, "value": LONG}])

    return spark.range(0, 4, 1, 2).mapInArrow(work, "id long, value string")


def numbers(batch: pyarrow.RecordBatch) -> list[int]:
    return list(batch.column("id").to_pylist())


def test_the_first_rows_are_there_while_others_are_computed(
    finely: SparkSession, tmp_path: Path
) -> None:
    sign = tmp_path / "sign"
    rows = collect_rows(two_partitions(finely, sign))
    assert numbers(next(rows)) == [0]
    sign.touch()
    assert [numbers(batch) for batch in rows] == [[1], [2], [3]]


def test_a_task_that_fails_after_the_first_rows_came_is_the_querys_own_failure(
    finely: SparkSession, tmp_path: Path
) -> None:
    sign = tmp_path / "sign"
    rows = collect_rows(two_partitions(finely, sign, then="not today"))
    assert numbers(next(rows)) == [0]
    sign.touch()
    with pytest.raises(Exception, match="not today") as failed:
        list(rows)
    assert not isinstance(failed.value, UncollectedError)


def test_rows_that_nobody_reads_to_the_end_leave_no_job_behind(
    finely: SparkSession, tmp_path: Path
) -> None:
    sign = tmp_path / "sign"
    rows = collect_rows(two_partitions(finely, sign))
    next(rows)
    sign.touch()
    rows.close()
    assert list(finely.sparkContext.statusTracker().getActiveJobsIds()) == []


def test_what_the_driver_may_not_collect_is_told_as_that(spark: SparkSession) -> None:
    rows = spark.range(0, 2, 1, 2).selectExpr("repeat('spark.driver.maxResultSize', 2) AS value")
    failing = rows.selectExpr("raise_error(value) AS value")
    with pytest.raises(UncollectedError, match="maxResultSize"):
        list(collect_rows(failing))


def test_nothing_is_no_rows(spark: SparkSession) -> None:
    assert sum(batch.num_rows for batch in collect_rows(spark.range(0))) == 0
