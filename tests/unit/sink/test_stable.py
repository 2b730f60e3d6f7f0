"""Which lineages keep the same rows together in a replay."""

import pytest

from onceproof.sink.lineage import classes_in, range_in
from onceproof.sink.stable import first_wide_step

COPY = """(4) SQLExecutionRDD[9] at toRdd at X.java:0 []
 |  MapPartitionsRDD[8] at toRdd at X.java:0 []
 |  DataSourceRDD[3] at start at X.java:0 []"""
FOLD = """(4) SQLExecutionRDD[9] at toRdd at X.java:0 []
 |  MapPartitionsRDD[8] at toRdd at X.java:0 []
 |  StateStoreRDD[7] at start at X.java:0 []
 |  ShuffledRowRDD[6] at start at X.java:0 []
 +-(3) MapPartitionsRDD[5] at start at X.java:0 []
    |  DataSourceRDD[3] at start at X.java:0 []"""
SHUFFLED = COPY.replace("MapPartitionsRDD[8]", "ShuffledRowRDD[8]")
UNION = COPY.replace("MapPartitionsRDD[8]", "UnionRDD[8]")
FILES = COPY.replace("DataSourceRDD", "FileScanRDD")


def test_a_lineage_is_read_from_the_last_step_to_the_first() -> None:
    assert classes_in(COPY) == ["SQLExecutionRDD", "MapPartitionsRDD", "DataSourceRDD"]


@pytest.mark.parametrize(
    ("text", "end"),
    [
        (COPY, "DataSourceRDD"),
        (FOLD, "StateStoreRDD"),
        (SHUFFLED, None),
        (UNION, None),
        (FILES, "FileScanRDD"),  # known by name, and not among the stable ones
        ("", None),
    ],
)
def test_only_narrow_steps_may_lie_above_what_keeps_rows_together(
    text: str, end: str | None
) -> None:
    assert first_wide_step(classes_in(text)) == end


def test_a_range_of_offsets_has_the_same_name_wherever_it_comes() -> None:
    read = "Some(KafkaBatchInputPartition(KafkaOffsetRange(a-b-12,30,45,None),{},512,false,true))"
    assert str(range_in(read)) == "a-b-12@30..45"
    assert range_in(read + read) is None
