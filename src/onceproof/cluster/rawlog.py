"""The independent reader: a partition's log by raw fetches, as the judge's cross-check reads it.

leader ──Fetch, read_uncommitted──▶ bytes ──headers_of──▶ headers ──judge──▶ rows of BATCHES

Nothing is loaded whole: one fetch at a time, and of it only the headers are kept.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kafka.protocol.consumer import FetchRequest, IsolationLevel
from kafka.record.default_records import DefaultRecordBatch

from onceproof.cluster import topics
from onceproof.cluster.batches import BatchHeader, JudgedBatch, Outcome, headers_of, judge
from onceproof.cluster.client import BrokerClient, check
from onceproof.cluster.compression import plain_batch
from onceproof.cluster.roles import partition_leader
from onceproof.deadline import Deadline, wait_until
from onceproof.errors import ClusterError

FETCH_S_MAX = 30.0
FETCH_BYTES = 8 * 1024 * 1024
_VISIBLE = (Outcome.COMMITTED, Outcome.NONE)


@dataclass(frozen=True, kw_only=True)
class RawRecord:
    """One record as the log holds it; the timestamp in milliseconds since 1970."""

    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None


def read_batches(client: BrokerClient, topic: str, partition: int) -> Iterator[JudgedBatch]:
    """All data batches of a partition up to its end at this moment, with their outcomes."""
    yield from judge(partition, read_headers(client, topic, partition))


def count_visible(client: BrokerClient, topic: str) -> dict[int, int]:
    """Data records that a read_committed reader sees: those below the last stable offset."""
    return {
        partition: sum(
            batch.records
            for batch in read_batches(client, topic, partition)
            if batch.outcome in _VISIBLE and batch.last_offset < stable
        )
        for partition, stable in topics.stable_offsets(client, topic).items()
    }


def read_headers(
    client: BrokerClient,
    topic: str,
    partition: int,
    begin: int | None = None,
    patience_s: float = FETCH_S_MAX,
) -> Iterator[BatchHeader]:
    """The header of every batch, control batches included; of those from `begin` on."""
    for header, _ in _read(client, topic, partition, begin, patience_s):
        yield header


def read_records(
    client: BrokerClient, topic: str, partition: int
) -> Iterator[tuple[BatchHeader, list[RawRecord]]]:
    """Every batch with what it holds, markers included."""
    for header, batch in _read(client, topic, partition):
        yield header, list(_records_in(batch, header.base_offset))


def _read(
    client: BrokerClient,
    topic: str,
    partition: int,
    begin: int | None = None,
    patience_s: float = FETCH_S_MAX,
) -> Iterator[tuple[BatchHeader, memoryview]]:
    position = topics.start_offsets(client, topic)[partition] if begin is None else begin
    end = topics.end_offsets(client, topic)[partition]
    while position < end:
        before = position
        for header, batch in headers_of(_fetch(client, topic, partition, position, patience_s)):
            if header.last_offset >= position:
                yield header, batch
                position = header.last_offset + 1
        if position == before:
            raise ClusterError(
                f"{topic}-{partition} gave no batch at offset {position}, though its end is {end}"
            )


def read_record(client: BrokerClient, topic: str, partition: int, offset: int) -> RawRecord | None:
    """The record at one offset, whatever its outcome; None: a marker, or compacted away."""
    for header, batch in headers_of(_fetch(client, topic, partition, offset)):
        if header.last_offset < offset:
            continue
        if header.base_offset > offset or header.control:
            return None
        return _record_in(batch, offset)
    return None


def _record_in(batch: memoryview, offset: int) -> RawRecord | None:
    return next((each for each in _records_in(batch, offset) if each.offset == offset), None)


def _records_in(batch: memoryview, around: int) -> Iterator[RawRecord]:
    if not DefaultRecordBatch(bytes(batch)).validate_crc():
        raise ClusterError(f"record batch around offset {around} fails its checksum")
    for record in DefaultRecordBatch(plain_batch(bytes(batch))):
        yield RawRecord(
            offset=record.offset,
            timestamp_ms=record.timestamp,
            key=record.key,
            value=record.value,
        )


def _fetch(
    client: BrokerClient,
    topic: str,
    partition: int,
    offset: int,
    patience_s: float = FETCH_S_MAX,
) -> bytes:
    """One piece of log from the leader; a leader that moves or is away is waited for."""
    refusal = ""

    def attempt() -> list[bytes] | None:
        nonlocal refusal
        try:
            return [_fetch_once(client, topic, partition, offset)]
        except ClusterError as error:
            refusal = str(error)
            return None

    where = f"{topic}-{partition}@{offset}"
    return wait_until(
        attempt, Deadline(patience_s), lambda: f"{where} could not be fetched: {refusal}"
    )[0]


def _fetch_once(client: BrokerClient, topic: str, partition: int, offset: int) -> bytes:
    topic_type: Any = FetchRequest.FetchTopic
    wanted = topic_type.FetchPartition(
        partition=partition,
        current_leader_epoch=-1,
        fetch_offset=offset,
        last_fetched_epoch=-1,
        log_start_offset=-1,
        partition_max_bytes=FETCH_BYTES,
    )
    request = FetchRequest(
        replica_id=-1,
        max_wait_ms=100,
        min_bytes=1,
        max_bytes=FETCH_BYTES,
        isolation_level=IsolationLevel.READ_UNCOMMITTED.value,
        session_id=0,
        session_epoch=-1,
        topics=[topic_type(topic=topic, partitions=[wanted])],
        forgotten_topics_data=[],
        rack_id="",
        max_version=12,  # from 13 on topics go by id
    )
    answer = client.ask(partition_leader(client, topic, partition), request, FETCH_S_MAX)
    check(answer.error_code, f"fetch from {topic}")
    found = answer.responses[0].partitions[0]
    check(found.error_code, f"fetch from {topic}-{partition}@{offset}")
    return bytes(found.records or b"")
