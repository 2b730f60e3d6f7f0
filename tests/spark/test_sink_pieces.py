"""In what pieces rows come to Python, on real Spark."""

from collections.abc import Iterator

import pyarrow
import pytest
from pyspark.sql import DataFrame, SparkSession

from onceproof.sink.pieces import PIECE_BYTES, SETTING, small_pieces

ROWS = 3_000  # of 1 KB: one piece, as Spark comes


def pieces(rows: DataFrame) -> tuple[list[int], int]:
    """The size of each piece, and how many rows came in all."""

    # In here, so that it goes to the workers as it is: they cannot import this module.
    def sizes(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        for batch in batches:
            yield pyarrow.RecordBatch.from_pylist([{"bytes": batch.nbytes, "rows": batch.num_rows}])

    told = rows.mapInArrow(sizes, "bytes long, rows long").collect()
    return [row["bytes"] for row in told], sum(row["rows"] for row in told)


@pytest.fixture
def session(spark: SparkSession) -> SparkSession:
    return spark.newSession()


@pytest.fixture
def rows(session: SparkSession) -> DataFrame:
    return session.range(0, ROWS, 1, 1).selectExpr("repeat('x', 1000) AS value")


def test_the_pieces_are_small_only_meanwhile_and_all_rows_come(rows: DataFrame) -> None:
    with small_pieces(rows.sparkSession):
        inside, count = pieces(rows)
    assert count == ROWS
    assert len(inside) > 1
    assert max(inside) < PIECE_BYTES * 1.1  # the row that makes it full belongs to it
    assert len(pieces(rows)[0]) == 1


def test_after_a_failure_all_is_as_it_was(session: SparkSession) -> None:
    before = session.conf.get(SETTING)
    with pytest.raises(ValueError, match="of the job"), small_pieces(session):
        raise ValueError("of the job")
    assert session.conf.get(SETTING) == before


def test_what_the_user_has_set_stays(session: SparkSession, rows: DataFrame) -> None:
    session.conf.set(SETTING, "250000")
    with small_pieces(session):
        assert max(pieces(rows)[0]) < 300_000
    assert session.conf.get(SETTING) == "250000"
