"""What a frame says, as far as rules and stories ask for it. Pure.

kio's entities differ from api to api and from version to version, but their fields are named alike:
so they are asked for by name, wherever they are in the tree.
"""

import struct
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

_PARTITIONS = (
    "partitions",
    "partition_data",
    "partition_indexes",
    "partition_responses",
    "results_by_partition",
)
_PARTITION = ("partition_index", "index", "partition")
_OFFSET = ("committed_offset", "fetch_offset", "base_offset", "offset", "low_watermark")
_GENERATION = ("generation_id", "generation_id_or_member_epoch", "member_epoch")
# Lists whose members are looked into as if they were the message itself.
_INNER = ("transactions", "markers", "groups", "results_by_transaction")
_TOPICS = (
    "topics",
    "topic_data",
    "responses",
    "topic_results",
    "v3_and_below_topics",
    "results_by_topic_v3_and_below",
)
# base offset, length, leader epoch, magic, crc, attributes, last delta, times, producer id, epoch
_BATCH_HEAD = struct.Struct(">qiibIhiqqqhii")
_BATCH_LENGTH_FROM = 12  # a batch's length counts what follows it
_MAGIC_V2 = 2
_IS_CONTROL = 0x20


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A partition a frame speaks of, and the offset it names there."""

    topic: str
    partition: int
    offset: int | None = None
    records: int | None = None  # Produce requests, Fetch responses: how many it carries
    last_offset: int | None = None  # of a Fetch response: the last it carries


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """None where the frame says nothing of it."""

    transactional_id: str | None = None
    producer_id: int | None = None
    producer_epoch: int | None = None
    committed: bool | None = None  # EndTxn, WriteTxnMarkers: commit or abort
    group: str | None = None
    generation: int | None = None
    member: str | None = None
    places: tuple[Place, ...] = ()
    error_code: int | None = None  # the first that is not 0, if there is one
    records: int | None = None  # of a Produce
    first_sequence: int | None = None
    acks: int | None = None  # of a Produce; 0: nothing will be answered
    throttle_ms: int | None = None  # of an answer: so long its client must wait, for a quota


NOTHING = Facts()


@dataclass(slots=True)
class TopicNames:
    """Newer requests name topics by an id; Metadata responses tell which is which."""

    _names: dict[uuid.UUID, str] = field(default_factory=dict)

    def learn(self, metadata_response: Any) -> None:
        for topic in metadata_response.topics:
            topic_id = getattr(topic, "topic_id", None)
            if topic_id is not None and topic.name is not None:
                self._names[topic_id] = str(topic.name)

    def of(self, topic: Any) -> str:
        for name in ("name", "topic"):
            found = getattr(topic, name, None)
            if found is not None:
                return str(found)
        topic_id = getattr(topic, "topic_id", None)
        return self._names.get(topic_id, str(topic_id)) if topic_id is not None else ""


def read_facts(entity: Any, names: TopicNames) -> Facts:
    """Of a request or a response."""
    parts = [entity, *_inner(entity)]
    places, head = [], None
    for topic in _topics(parts):
        name = names.of(topic)
        for partition in _first_of(topic, _PARTITIONS) or ():
            places.append(_place(name, partition))
            records = getattr(partition, "records", None)
            if records and head is None:
                head = batch_head(records)
    producer_id, epoch, sequence, count = head or (None, None, None, None)
    return Facts(
        transactional_id=_text(_found(parts, *_either("transactional_id"))),
        producer_id=_number(_found(parts, *_either("producer_id")), producer_id),
        producer_epoch=_number(_found(parts, *_either("producer_epoch")), epoch),
        committed=_found(parts, "committed", "transaction_result"),
        group=_text(_found(parts, "group_id")),
        generation=_number(_found(parts, *_GENERATION), None),
        member=_text(_found(parts, "member_id")),
        places=tuple(places),
        error_code=first_error(entity),
        records=count,
        first_sequence=sequence,
        acks=_number(_found(parts, "acks"), None),
        throttle_ms=_throttle_ms(entity),
    )


def _throttle_ms(entity: Any) -> int | None:
    wait = getattr(entity, "throttle_time", None)
    return None if wait is None else round(wait.total_seconds() * 1000)


def batch_head(records: Any) -> tuple[int, int, int, int] | None:
    """Producer id, epoch, first sequence and number of records of a Produce's first batch."""
    data = bytes(records[: _BATCH_HEAD.size]) if len(records) >= _BATCH_HEAD.size else b""
    if not data:
        return None
    head = _BATCH_HEAD.unpack(data)
    producer_id, epoch, sequence, count = head[-4:]
    return (producer_id, epoch, sequence, count) if head[3] == _MAGIC_V2 else None


def batches_told(records: Any) -> tuple[int, int | None]:
    """How many records the batches hold, and their last offset: of whole batches of format 2.

    Heads are never compressed. Markers count for the offset: a reader goes past them as well.
    """
    count, last_offset, at = 0, None, 0
    while at + _BATCH_HEAD.size <= len(records):
        head = _BATCH_HEAD.unpack(bytes(records[at : at + _BATCH_HEAD.size]))
        base, length, magic, attributes, delta = head[0], head[1], head[3], head[5], head[6]
        at += _BATCH_LENGTH_FROM + length
        if magic != _MAGIC_V2 or length <= 0 or at > len(records):
            break
        count += 0 if attributes & _IS_CONTROL else head[-1]
        last_offset = base + delta
    return count, last_offset


def first_error(entity: Any) -> int | None:
    """The first error code in the tree that is not 0; 0 if all are; None if there is none."""
    found = None
    for name, value in _leaves(entity):
        if name.endswith("error_code"):
            found = int(value)
            if found != 0:
                return found
    return found


def _inner(entity: Any) -> Iterator[Any]:
    for name in _INNER:
        yield from getattr(entity, name, None) or ()


def _topics(parts: list[Any]) -> Iterator[Any]:
    for part in parts:
        for name in _TOPICS:
            for topic in getattr(part, name, None) or ():
                if _first_of(topic, _PARTITIONS) is not None:
                    yield topic


def _place(topic: str, partition: Any) -> Place:
    if isinstance(partition, int):
        return Place(topic=topic, partition=int(partition))
    number, offset = _first_of(partition, _PARTITION), _first_of(partition, _OFFSET)
    records, last_offset = _carried(partition)
    return Place(
        topic=topic,
        partition=int(number),
        offset=None if offset is None else int(offset),
        records=records,
        last_offset=last_offset,
    )


def _carried(partition: Any) -> tuple[int | None, int | None]:
    """Offsets in a Produce are the client's own, from 0: only a Fetch response's are the log's."""
    if not hasattr(partition, "records"):
        return None, None
    count, last_offset = batches_told(partition.records or b"")
    return count, last_offset if hasattr(partition, "high_watermark") else None


def _first_of(entity: Any, names: tuple[str, ...]) -> Any:
    return next(
        (value for name in names if (value := getattr(entity, name, None)) is not None), None
    )


def _found(parts: list[Any], *names: str) -> Any:
    return next((value for part in parts if (value := _first_of(part, names)) is not None), None)


def _either(name: str) -> tuple[str, str]:
    """AddPartitionsToTxn spells what its old versions say otherwise."""
    return name, f"v3_and_below_{name}"


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _number(value: Any, otherwise: int | None) -> int | None:
    return otherwise if value is None else int(value)


def _leaves(entity: Any) -> Iterator[tuple[str, Any]]:
    for name in getattr(type(entity), "__slots__", ()):
        value = getattr(entity, name)
        if isinstance(value, tuple):
            for each in value:
                yield from _leaves(each)
        elif hasattr(type(value), "__slots__") and hasattr(type(value), "__version__"):
            yield from _leaves(value)
        else:
            yield name, value


def describe(facts: Facts) -> Mapping[str, object]:
    """Only what is known, for a line of text."""
    known = {name: getattr(facts, name) for name in Facts.__slots__}
    return {name: value for name, value in known.items() if value not in (None, ())}
