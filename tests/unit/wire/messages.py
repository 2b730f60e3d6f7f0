"""Frames as a client and a broker would send them, made with kio."""

import io
import struct
from typing import Any

from kio.index import load_request_schema, load_response_schema
from kio.schema.types import ProducerId, TopicName, TransactionalId
from kio.serial import entity_writer
from kio.static.primitive import i16, i32


def request(entity: Any, *, client_id: str = "app-1", correlation_id: int = 7) -> bytes:
    header = type(entity).__header_schema__
    fields = {
        "request_api_key": type(entity).__api_key__,
        "request_api_version": type(entity).__version__,
        "correlation_id": i32(correlation_id),
        "client_id": client_id,
    }
    return _framed(header(**fields), entity)


def response(entity: Any, *, correlation_id: int = 7) -> bytes:
    return _framed(type(entity).__header_schema__(correlation_id=i32(correlation_id)), entity)


def _framed(header: Any, entity: Any) -> bytes:
    out = io.BytesIO()
    entity_writer(type(header))(out, header)
    entity_writer(type(entity))(out, entity)
    body = out.getvalue()
    return struct.pack(">i", len(body)) + body


def end_txn(*, commit: bool, epoch: int = 3, version: int = 4, name: str = "app-1-0") -> Any:
    schema: Any = load_request_schema(26, version)
    return schema(
        transactional_id=TransactionalId(name),
        producer_id=ProducerId(5001),
        producer_epoch=i16(epoch),
        committed=commit,
    )


def add_partitions(version: int, **places: list[int]) -> Any:
    """`places`: topic → partitions."""
    schema: Any = load_request_schema(24, version)
    module = __import__(schema.__module__, fromlist=["AddPartitionsToTxnTopic"])
    topics = tuple(
        module.AddPartitionsToTxnTopic(
            name=TopicName(name), partitions=tuple(i32(number) for number in numbers)
        )
        for name, numbers in places.items()
    )
    one = {
        "transactional_id": TransactionalId("app-1-0"),
        "producer_id": ProducerId(5001),
        "producer_epoch": i16(3),
    }
    if version < 4:
        renamed = {
            f"v3_and_below_{name}": value for name, value in {**one, "topics": topics}.items()
        }
        return schema(**renamed)
    transaction = module.AddPartitionsToTxnTransaction(**one, verify_only=False, topics=topics)
    return schema(transactions=(transaction,))


def answer(api_key: int, version: int, **fields: Any) -> Any:
    schema: Any = load_response_schema(api_key, version)
    return schema(**fields)
