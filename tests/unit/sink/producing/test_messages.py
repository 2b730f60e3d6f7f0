"""Arrow columns as librdkafka messages: every pointer and length, read back from memory."""

import ctypes
from typing import Any

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onceproof.sink.producing.librdkafka import Message
from onceproof.sink.producing.messages import MESSAGE, message_array

field = st.none() | st.binary(max_size=6)
row = st.tuples(field, field, st.none() | st.integers(0, 7))
KINDS = [pyarrow.binary(), pyarrow.large_binary()]


def read_back(messages: Any) -> list[tuple[bytes | None, bytes | None, int | None]]:
    """What librdkafka would find behind the pointers."""
    structures = (Message * len(messages)).from_buffer_copy(messages.tobytes())
    return [
        (
            content(one.key, one.key_length),
            content(one.payload, one.length),
            None if one.partition == -1 else one.partition,
        )
        for one in structures
    ]


def content(address: int | None, length: int) -> bytes | None:
    return None if not address else ctypes.string_at(address, length)


@given(
    st.lists(row, max_size=12),
    st.sampled_from(KINDS),
    st.integers(0, 3),
    st.integers(0, 3),
)
def test_every_field_is_found_where_its_message_points(
    rows: list, kind: pyarrow.DataType, skipped: int, left_out: int
) -> None:
    keys, values, partitions = (
        pyarrow.array([each[n] for each in rows], kind)
        for n, kind in ((0, kind), (1, kind), (2, pyarrow.int32()))
    )
    end = max(skipped, len(rows) - left_out)
    part = slice(skipped, end)
    kept = [column[part] for column in (keys, values, partitions)]
    assert read_back(message_array(*kept)) == rows[part]


def test_absent_columns_are_absent_fields() -> None:
    values = pyarrow.array([b"v"], pyarrow.binary())
    assert read_back(message_array(None, values, None)) == [(None, b"v", None)]


@pytest.mark.parametrize("values", [[b""], [b"", None], [None]])
def test_empty_is_not_absent_even_where_a_column_has_no_bytes_at_all(values: list) -> None:
    column = pyarrow.array(values, pyarrow.binary())
    assert [one[1] for one in read_back(message_array(None, column, None))] == values


def test_the_layout_is_that_of_the_c_structure() -> None:
    assert MESSAGE.itemsize == ctypes.sizeof(Message) == 72
