"""Record batches by their headers. Pure: bytes in, headers and outcomes out.

    offset     0   1   2   3        4   5          a partition with batches of two producers
    producer   7   8   7   7        8   8
    kind       .   .   .   COMMIT   .   ABORT      markers end what their producer has open
    outcome    C   A   C            A

A batch's outcome is told by the first marker of the same producer id after it. None yet: UNKNOWN,
the transaction is open. Headers are never compressed: any codec can be judged without its library.
"""

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from kafka.record.default_records import DefaultRecordBatch

# The layout of a record batch, format 2 (Kafka 0.11 and later).
_HEADER = struct.Struct(">qiibIhiqqqhii")
_LENGTH_PREFIX = struct.calcsize(">qi")
_MAGIC = 2
_TRANSACTIONAL_BIT = 0x10
_CONTROL_BIT = 0x20


class Outcome(StrEnum):
    COMMITTED = "COMMITTED"
    ABORTED = "ABORTED"
    UNKNOWN = "UNKNOWN"
    NONE = "NONE"  # written outside any transaction


_MARKER_TYPES = {0: Outcome.ABORTED, 1: Outcome.COMMITTED}


@dataclass(frozen=True, kw_only=True)
class BatchHeader:
    """One batch as the log holds it. A control batch that is a marker says how it `ends` things."""

    base_offset: int
    last_offset: int
    records: int
    producer_id: int
    epoch: int
    transactional: bool
    control: bool = False
    ends: Outcome | None = None


@dataclass(frozen=True, kw_only=True)
class JudgedBatch:
    """A data batch with its outcome: a row of history.schemas.BATCHES."""

    partition: int
    base_offset: int
    last_offset: int
    records: int
    producer_id: int
    epoch: int
    transactional: bool
    outcome: Outcome
    marker_offset: int | None


def headers_of(log: bytes | memoryview) -> Iterator[tuple[BatchHeader, memoryview]]:
    """Each whole batch in a piece of log, with its bytes; a last one cut short is left out."""
    view = memoryview(log)
    position = 0
    while position + _HEADER.size <= len(view):
        fields = _HEADER.unpack_from(view, position)
        size = _LENGTH_PREFIX + fields[1]
        if position + size > len(view):
            return
        if fields[3] != _MAGIC:
            raise ValueError(
                f"batch at offset {fields[0]} has format {fields[3]}; expected {_MAGIC}"
            )
        batch = view[position : position + size]
        yield _header(fields, batch), batch
        position += size


def _header(fields: tuple[int, ...], batch: memoryview) -> BatchHeader:
    attributes = fields[5]
    control = bool(attributes & _CONTROL_BIT)
    return BatchHeader(
        base_offset=fields[0],
        last_offset=fields[0] + fields[6],
        records=fields[12],
        producer_id=fields[9],
        epoch=fields[10],
        transactional=bool(attributes & _TRANSACTIONAL_BIT),
        control=control,
        ends=_marker(batch) if control else None,
    )


def _marker(batch: memoryview) -> Outcome | None:
    """What a control batch says; types other than these end no transaction."""
    for record in DefaultRecordBatch(bytes(batch)):
        return _MARKER_TYPES.get(record.type)
    return None  # compaction may leave the header of a marker it removed


def judge(partition: int, headers: Iterable[BatchHeader]) -> Iterator[JudgedBatch]:
    """Data batches in log order per producer, each as soon as its outcome is known.

    Holds only the batches of open transactions: a topic of any length can be streamed through it.
    """
    open_batches: dict[int, list[JudgedBatch]] = {}
    for header in headers:
        if header.ends is not None:
            for batch in open_batches.pop(header.producer_id, []):
                yield replace(batch, outcome=header.ends, marker_offset=header.base_offset)
        elif header.control:
            continue
        elif header.transactional:
            judged = _judged(partition, header, Outcome.UNKNOWN)
            open_batches.setdefault(header.producer_id, []).append(judged)
        else:
            yield _judged(partition, header, Outcome.NONE)
    for batches in open_batches.values():
        yield from batches


def _judged(partition: int, header: BatchHeader, outcome: Outcome) -> JudgedBatch:
    return JudgedBatch(
        partition=partition,
        base_offset=header.base_offset,
        last_offset=header.last_offset,
        records=header.records,
        producer_id=header.producer_id,
        epoch=header.epoch,
        transactional=header.transactional,
        outcome=outcome,
        marker_offset=None,
    )
