import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.record.default_records import DefaultRecordBatchBuilder

from onceproof.cluster.batches import BatchHeader, JudgedBatch, Outcome, headers_of, judge


def data(offset: int, producer: int, records: int = 1, epoch: int = 0) -> BatchHeader:
    return BatchHeader(
        base_offset=offset,
        last_offset=offset + records - 1,
        records=records,
        producer_id=producer,
        epoch=epoch,
        transactional=True,
    )


def marker(offset: int, producer: int, ends: Outcome | None, epoch: int = 0) -> BatchHeader:
    return BatchHeader(
        base_offset=offset,
        last_offset=offset,
        records=1,
        producer_id=producer,
        epoch=epoch,
        transactional=True,
        control=True,
        ends=ends,
    )


def outcomes(*headers: BatchHeader) -> dict[int, tuple[str, int | None]]:
    judged = judge(3, headers)
    return {each.base_offset: (each.outcome.value, each.marker_offset) for each in judged}


def test_a_marker_decides_all_that_its_producer_has_open() -> None:
    assert outcomes(
        data(0, 7), data(1, 7, records=3), marker(4, 7, Outcome.COMMITTED), data(5, 7)
    ) == {0: ("COMMITTED", 4), 1: ("COMMITTED", 4), 5: ("UNKNOWN", None)}


def test_interleaved_producers_are_decided_by_their_own_markers() -> None:
    assert outcomes(
        data(0, 7),
        data(1, 8),
        data(2, 7),
        marker(3, 7, Outcome.COMMITTED),
        data(4, 8),
        marker(5, 8, Outcome.ABORTED),
    ) == {
        0: ("COMMITTED", 3),
        2: ("COMMITTED", 3),
        1: ("ABORTED", 5),
        4: ("ABORTED", 5),
    }


def test_a_fenced_epoch_is_aborted_by_the_marker_of_the_next() -> None:
    assert outcomes(data(0, 7, epoch=4), marker(1, 7, Outcome.ABORTED, epoch=5)) == {
        0: ("ABORTED", 1)
    }


def test_a_batch_outside_transactions_has_no_outcome_to_wait_for() -> None:
    plain = BatchHeader(
        base_offset=0, last_offset=9, records=10, producer_id=-1, epoch=-1, transactional=False
    )
    assert list(judge(3, [plain])) == [
        JudgedBatch(
            partition=3,
            base_offset=0,
            last_offset=9,
            records=10,
            producer_id=-1,
            epoch=-1,
            transactional=False,
            outcome=Outcome.NONE,
            marker_offset=None,
        )
    ]


def test_a_control_batch_of_another_kind_decides_nothing() -> None:
    assert outcomes(data(0, 7), marker(1, 7, None)) == {0: ("UNKNOWN", None)}


def test_a_marker_without_data_is_no_row() -> None:
    assert outcomes(marker(0, 7, Outcome.ABORTED)) == {}


@given(
    st.lists(
        st.tuples(st.integers(1, 3), st.sampled_from(["data", "commit", "abort"])), max_size=40
    )
)
def test_outcomes_equal_those_of_the_naive_search(steps: list[tuple[int, str]]) -> None:
    ends = {"commit": Outcome.COMMITTED, "abort": Outcome.ABORTED}
    headers = [
        data(offset, producer) if kind == "data" else marker(offset, producer, ends[kind])
        for offset, (producer, kind) in enumerate(steps)
    ]
    naive = {}
    for offset, (producer, kind) in enumerate(steps):
        if kind == "data":
            later = ((at, k) for at, (p, k) in enumerate(steps) if at > offset and p == producer)
            naive[offset] = next(
                ((ends[k].value, at) for at, k in later if k != "data"), ("UNKNOWN", None)
            )
    assert outcomes(*headers) == naive


def written(offset: int, *, control_type: int | None = None, producer: int = 7) -> bytes:
    """One batch as a broker writes it."""
    builder = DefaultRecordBatchBuilder(
        magic=2,
        compression_type=0,
        is_transactional=True,
        producer_id=producer,
        producer_epoch=1,
        base_sequence=0,
        batch_size=1 << 20,
    )
    key = b"key" if control_type is None else struct.pack(">hh", 0, control_type)
    builder.append(0, timestamp=1000, key=key, value=b"value", headers=[])
    batch = bytearray(builder.build())
    struct.pack_into(">q", batch, 0, offset)
    if control_type is not None:
        (attributes,) = struct.unpack_from(">h", batch, 21)
        struct.pack_into(">h", batch, 21, attributes | 0x20)
    return bytes(batch)


def test_headers_are_read_from_the_bytes_of_a_log() -> None:
    log = written(5) + written(6, control_type=1) + written(7, control_type=0)
    read = [header for header, _ in headers_of(log)]
    assert [each.base_offset for each in read] == [5, 6, 7]
    assert [each.ends for each in read] == [None, Outcome.COMMITTED, Outcome.ABORTED]
    assert [each.control for each in read] == [False, True, True]
    assert (read[0].producer_id, read[0].epoch, read[0].records) == (7, 1, 1)


def test_a_batch_cut_short_by_the_fetch_size_is_left_out() -> None:
    log = written(5) + written(6)
    assert [header.base_offset for header, _ in headers_of(log[:-1])] == [5]


def test_a_log_of_an_older_format_is_refused() -> None:
    old = bytearray(written(5))
    old[16] = 1
    with pytest.raises(ValueError, match="batch at offset 5 has format 1; expected 2"):
        list(headers_of(bytes(old)))
