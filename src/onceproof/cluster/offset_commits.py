"""What the log of `__consumer_offsets` says a group has committed, and what became of each commit.

    Fetch, read_uncommitted ──▶ batches ──▶ commits of one group, each COMMITTED, ABORTED, …

A coordinator answers OffsetFetch out of its memory, which it fills from this log when it loads. The
two must agree: where they do not, a restarted coordinator would tell another position.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from onceproof.cluster import rawlog
from onceproof.cluster.batches import Outcome
from onceproof.cluster.client import BrokerClient
from onceproof.cluster.roles import partition_leaders

TOPIC = "__consumer_offsets"
_COMMIT_VERSIONS = (0, 1)  # of a key; others are of groups and their members
_SHORT, _INT, _LONG = struct.Struct(">h"), struct.Struct(">i"), struct.Struct(">q")


@dataclass(frozen=True, kw_only=True)
class OffsetCommit:
    """A row of history.schemas.COMMITS. `position` is None where it was taken back."""

    log_partition: int
    log_offset: int
    group: str
    topic: str
    partition: int
    position: int | None
    producer_id: int
    epoch: int
    outcome: Outcome
    marker_offset: int | None
    marker_ms: int | None  # when its transaction ended, since 1970


def read_commits(client: BrokerClient, group: str) -> Iterator[OffsetCommit]:
    """All commits of the group that its partition of the log still holds."""
    log_partition = partition_of(group, len(partition_leaders(client, TOPIC)))
    ended_ms: dict[int, int] = {}
    found = {}
    for header, records in rawlog.read_records(client, TOPIC, log_partition):
        if header.control:
            ended_ms[header.base_offset] = max(record.timestamp_ms for record in records)
        for record in () if header.control else records:
            commit = parse_commit(record.key, record.value)
            if commit is not None and commit[0] == group:
                found[record.offset] = commit
    for batch in rawlog.read_batches(client, TOPIC, log_partition):
        marker = batch.marker_offset
        for offset in range(batch.base_offset, batch.last_offset + 1):
            if offset in found:
                name, topic, partition, position = found[offset]
                yield OffsetCommit(
                    log_partition=log_partition,
                    log_offset=offset,
                    group=name,
                    topic=topic,
                    partition=partition,
                    position=position,
                    producer_id=batch.producer_id,
                    epoch=batch.epoch,
                    outcome=batch.outcome,
                    marker_offset=marker,
                    marker_ms=None if marker is None else ended_ms.get(marker),
                )


def parse_commit(key: bytes | None, value: bytes | None) -> tuple[str, str, int, int | None] | None:
    """Group, topic, partition, position; None: the record is something else."""
    if key is None or _SHORT.unpack_from(key)[0] not in _COMMIT_VERSIONS:
        return None
    group, at = _text(key, _SHORT.size)
    topic, at = _text(key, at)
    (partition,) = _INT.unpack_from(key, at)
    position = None if value is None else _LONG.unpack_from(value, _SHORT.size)[0]
    return group, topic, partition, position


def _text(data: bytes, at: int) -> tuple[str, int]:
    (length,) = _SHORT.unpack_from(data, at)
    begin = at + _SHORT.size
    return data[begin : begin + length].decode(), begin + length


def partition_of(group: str, partitions: int) -> int:
    """As Kafka does it: the absolute value of Java's hash of the text."""
    code = 0
    for (unit,) in struct.iter_unpack(">H", group.encode("utf-16-be")):
        code = (31 * code + unit) & 0xFFFFFFFF
    signed = code - (1 << 32) if code >> 31 else code
    return 0 if signed == -(1 << 31) else abs(signed) % partitions
