"""A lane's rows are read once, counted once, and belong to it."""

import pyarrow
import pytest

from onceproof.sink.errors import SinkError
from onceproof.sink.rows import LaneRows, packed, unpacked


def batch(*values: bytes, lane: int | None = None) -> pyarrow.RecordBatch:
    columns = {
        "value": pyarrow.array(values, pyarrow.binary()),
        "__hash": pyarrow.array([len(value) for value in values], pyarrow.int64()),
    }
    if lane is not None:
        columns["__lane"] = pyarrow.array([lane] * len(values), pyarrow.int32())
    return pyarrow.RecordBatch.from_pydict(columns)


def values_of(batches: list[pyarrow.RecordBatch]) -> list[bytes]:
    return [value for each in batches for value in each.column("value").to_pylist()]


def test_a_few_rows_are_had_all_at_once() -> None:
    rows = LaneRows([batch(b"a"), batch(b"b", b"c")])
    few = rows.all_if_few(10_000)
    assert few is not None
    assert values_of(few) == [b"a", b"b", b"c"]
    assert (rows.digest.rows, list(rows)) == (3, [])


def test_more_than_a_few_are_still_read_from_the_first_and_counted_once() -> None:
    rows = LaneRows([batch(b"a"), batch(b"b"), batch(b"c")])
    assert rows.all_if_few(1) is None
    assert values_of(list(rows)) == [b"a", b"b", b"c"]
    whole = LaneRows([batch(b"a", b"b", b"c")])
    whole.read_to_the_end()
    assert (rows.digest.rows, rows.digest.hex()) == (3, whole.digest.hex())


def test_rows_of_another_lane_stop_everything() -> None:
    rows = LaneRows([batch(b"a", lane=2), batch(b"b", lane=3)], lane=2)
    with pytest.raises(SinkError, match=r"rows of lanes \[3\] came to the task of lane 2"):
        rows.read_to_the_end()


def test_rows_come_to_the_driver_as_they_were() -> None:
    assert values_of(unpacked(packed([batch(b"a", b""), batch(b"c")]))) == [b"a", b"", b"c"]
    assert unpacked(packed([])) == []
