"""What frames say is read alike from every version of an api."""

import struct
import uuid
from datetime import timedelta
from typing import Any

import pytest
from kio.index import load_request_schema, load_response_schema
from kio.schema.errors import ErrorCode
from kio.schema.types import GroupId, ProducerId, TopicName, TransactionalId
from kio.static.primitive import i16, i32, i64
from messages import add_partitions, answer, end_txn, request, response

from onceproof.wire.decoding import DecodingError, api_keys, decode_request, decode_response
from onceproof.wire.facts import Facts, Place, TopicNames, describe, read_facts
from onceproof.wire.frames import read_request_head

NO_TIME: Any = timedelta(0)


def facts_of(entity: Any, names: TopicNames | None = None) -> Facts:
    frame = request(entity)
    return read_facts(decode_request(frame, read_request_head(frame)), names or TopicNames())


@pytest.mark.parametrize("version", [0, 3, 4, 5])
@pytest.mark.parametrize("commit", [True, False])
def test_an_end_of_a_transaction(version: int, commit: bool) -> None:
    facts = facts_of(end_txn(commit=commit, version=version))
    assert facts.transactional_id == "app-1-0"
    assert (facts.producer_id, facts.producer_epoch, facts.committed) == (5001, 3, commit)


@pytest.mark.parametrize("version", [0, 3, 4, 5])
def test_partitions_added_to_a_transaction(version: int) -> None:
    facts = facts_of(add_partitions(version, out=[0, 2], other=[1]))
    assert (facts.transactional_id, facts.producer_id, facts.producer_epoch) == ("app-1-0", 5001, 3)
    assert [(place.topic, place.partition) for place in facts.places] == [
        ("out", 0),
        ("out", 2),
        ("other", 1),
    ]


def batch(
    producer_id: int,
    epoch: int,
    sequence: int,
    count: int,
    *,
    base_offset: int = 0,
    attributes: int = 0x10,
) -> bytes:
    head = struct.pack(
        ">qiibIhiqqqhii",
        base_offset,
        49 + len(b"records"),
        -1,
        2,
        0,
        attributes,
        count - 1,
        0,
        0,
        producer_id,
        epoch,
        sequence,
        count,
    )
    return head + b"records"


def produced(version: int, topic: dict[str, Any], records: bytes) -> Any:
    schema: Any = load_request_schema(0, version)
    module = __import__(schema.__module__, fromlist=["TopicProduceData"])
    data = module.PartitionProduceData(index=i32(2), records=records)
    return schema(
        transactional_id=TransactionalId("app-1-0"),
        acks=i16(-1),
        timeout=NO_TIME,
        topic_data=(module.TopicProduceData(**topic, partition_data=(data,)),),
    )


@pytest.mark.parametrize("version", [3, 9, 12])
def test_a_produce_tells_who_writes_where(version: int) -> None:
    named = {"name": TopicName("out")}
    facts = facts_of(produced(version, named, batch(5001, 3, 40, 17)))
    assert facts.places == (Place(topic="out", partition=2, records=17),)
    assert (facts.producer_id, facts.producer_epoch) == (5001, 3)
    assert (facts.first_sequence, facts.records) == (40, 17)


def fetched(version: int, records: bytes | None) -> Facts:
    module = __import__(load_response_schema(1, version).__module__, fromlist=["x"])
    data = module.PartitionData(
        partition_index=i32(1),
        error_code=ErrorCode.none,
        high_watermark=i64(900),
        aborted_transactions=None,
        records=records,
    )
    topic = module.FetchableTopicResponse(topic=TopicName("in"), partitions=(data,))
    head = {"throttle_time": NO_TIME, "error_code": ErrorCode.none, "session_id": i32(0)}
    frame = response(answer(1, version, responses=(topic,), **head))
    return read_facts(decode_response(frame, 1, version), TopicNames())


@pytest.mark.parametrize("version", [11, 12])
def test_a_fetch_tells_how_far_it_reaches_markers_included(version: int) -> None:
    data, marker = (
        batch(7, 0, 0, 20, base_offset=400),
        batch(7, 0, -1, 1, base_offset=420, attributes=0x30),
    )
    assert fetched(version, data + marker).places == (
        Place(topic="in", partition=1, records=20, last_offset=420),
    )


def test_a_batch_that_the_fetch_cut_off_is_not_counted_as_carried() -> None:
    whole, cut = batch(7, 0, 0, 20, base_offset=400), batch(7, 0, 20, 5, base_offset=420)
    (place,) = fetched(12, whole + cut[:-1]).places
    assert (place.records, place.last_offset) == (20, 419)


@pytest.mark.parametrize("records", [None, b"", b"\0" * 61])
def test_a_fetch_without_records_carries_none(records: bytes | None) -> None:
    (place,) = fetched(12, records).places
    assert (place.records, place.last_offset) == (0, None)


def test_a_topic_that_goes_by_its_id_is_named_once_metadata_has_told_it() -> None:
    topic_id, names = uuid.uuid4(), TopicNames()
    by_id = produced(13, {"topic_id": topic_id}, batch(5001, 3, 0, 1))
    assert facts_of(by_id, names).places[0].topic == str(topic_id)

    class Topic:
        name = "out"

    class Metadata:
        topics = (Topic(),)

    Topic.topic_id = topic_id  # type: ignore[attr-defined]
    names.learn(Metadata())
    assert facts_of(by_id, names).places[0].topic == "out"


@pytest.mark.parametrize("version", [0, 2, 3, 4, 5])
def test_offsets_committed_in_a_transaction(version: int) -> None:
    schema: Any = load_request_schema(28, version)
    module = __import__(schema.__module__, fromlist=["x"])
    epoch = {"committed_leader_epoch": i32(-1)} if version >= 2 else {}
    place = module.TxnOffsetCommitRequestPartition(
        partition_index=i32(1), committed_offset=i64(58), committed_metadata=None, **epoch
    )
    topic = module.TxnOffsetCommitRequestTopic(name=TopicName("in"), partitions=(place,))
    member = {"generation_id": i32(4), "member_id": "m"} if version >= 3 else {}
    instance = {"group_instance_id": None} if version >= 3 else {}
    facts = facts_of(
        schema(
            transactional_id=TransactionalId("app-1-0"),
            group_id=GroupId("app"),
            producer_id=ProducerId(5001),
            producer_epoch=i16(3),
            topics=(topic,),
            **member,
            **instance,
        )
    )
    assert facts.places == (Place(topic="in", partition=1, offset=58),)
    assert facts.group == "app"
    assert (facts.generation, facts.member) == ((4, "m") if version >= 3 else (None, None))


@pytest.mark.parametrize("version", [0, 1, 2])
def test_records_deleted_and_what_that_left(version: int) -> None:
    asked: Any = load_request_schema(21, version)
    module = __import__(asked.__module__, fromlist=["x"])
    place = module.DeleteRecordsPartition(partition_index=i32(1), offset=i64(-1))
    topic = module.DeleteRecordsTopic(name=TopicName("in"), partitions=(place,))
    facts = facts_of(asked(topics=(topic,), timeout=NO_TIME))
    assert facts.places == (Place(topic="in", partition=1, offset=-1),)
    answered: Any = load_response_schema(21, version)
    module = __import__(answered.__module__, fromlist=["x"])
    place = module.DeleteRecordsPartitionResult(
        partition_index=i32(1), low_watermark=i64(58), error_code=ErrorCode.none
    )
    topic = module.DeleteRecordsTopicResult(name=TopicName("in"), partitions=(place,))
    facts = read_facts(answered(throttle_time=NO_TIME, topics=(topic,)), TopicNames())
    assert facts.places == (Place(topic="in", partition=1, offset=58),)


@pytest.mark.parametrize(
    ("code", "expected"), [(ErrorCode.none, 0), (ErrorCode.invalid_producer_epoch, 47)]
)
def test_a_responses_error_is_found(code: ErrorCode, expected: int) -> None:
    frame = response(answer(26, 4, throttle_time=NO_TIME, error_code=code))
    facts = read_facts(decode_response(frame, 26, 4), TopicNames())
    assert facts.error_code == expected


def test_a_frame_that_cannot_be_understood_says_which_it_is() -> None:
    frame = request(end_txn(commit=True))
    with pytest.raises(DecodingError, match="EndTxn request v4 of 12 bytes"):
        decode_request(frame[:12], read_request_head(frame))
    with pytest.raises(DecodingError, match="EndTxn v99 is not known"):
        decode_response(frame, 26, 99)
    assert api_keys()["EndTxn"] == 26


def test_only_what_is_known_is_told() -> None:
    assert describe(Facts(transactional_id="t", committed=False)) == {
        "transactional_id": "t",
        "committed": False,
    }


@pytest.mark.parametrize("version", [3, 9, 11])
def test_an_answer_tells_how_long_its_client_must_wait(version: int) -> None:
    wait: Any = timedelta(milliseconds=1_234)
    frame = response(answer(0, version, responses=(), throttle_time=wait))
    assert read_facts(decode_response(frame, 0, version), TopicNames()).throttle_ms == 1_234
