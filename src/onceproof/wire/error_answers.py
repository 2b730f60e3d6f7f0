"""A response that says an error, made without asking the broker. Pure.

kio's schemas tell each field's type: everything is empty or 0, and the error code is the one given.
Only to apis whose answer is one error for all: partitions would each need an answer of their own.
"""

import dataclasses
import datetime
import io
import struct
import typing
from typing import Any

from kio.index import load_response_schema
from kio.schema.errors import ErrorCode
from kio.serial import entity_writer

from onceproof.errors import UsageError
from onceproof.wire.facts import NOTHING, Facts
from onceproof.wire.frames import LENGTH, RequestHead

ANSWERABLE = (
    "InitProducerId",
    "AddOffsetsToTxn",
    "EndTxn",
    "Heartbeat",
    "JoinGroup",
    "SyncGroup",
)


def error_answer(head: RequestHead, facts: Facts | None, code: int) -> bytes:
    """A whole frame."""
    schema: Any = load_response_schema(head.api_key, head.version)
    body = _filled(schema, ErrorCode(code), facts or NOTHING)
    header = schema.__header_schema__(correlation_id=head.correlation_id)
    out = io.BytesIO()
    entity_writer(type(header))(out, header)
    entity_writer(schema)(out, body)
    content = out.getvalue()
    return struct.pack(LENGTH.format, len(content)) + content


def _filled(schema: Any, code: ErrorCode, facts: Facts) -> Any:
    types = typing.get_type_hints(schema)
    values = {
        each.name: _value(each, types[each.name], code, facts)
        for each in dataclasses.fields(schema)
        if _has_no_default(each) or each.name.endswith("error_code")
    }
    return schema(**values)


def _value(field: Any, kind: Any, code: ErrorCode, facts: Facts) -> Any:
    if field.name.endswith("error_code"):
        return code
    if field.name == "producer_id":
        return -1 if facts.producer_id is None else facts.producer_id
    if field.name == "producer_epoch":
        return -1 if facts.producer_epoch is None else facts.producer_epoch
    return _empty(field.metadata.get("kafka_type", ""), kind)


def _empty(kafka_type: str, kind: Any) -> Any:
    if kafka_type == "timedelta_i32":
        return datetime.timedelta(0)
    if kafka_type == "string":
        return ""
    if kafka_type == "bytes":
        return b""
    if kafka_type == "bool":
        return False
    if kafka_type.startswith(("int", "uint")):
        return 0
    if typing.get_origin(kind) is tuple or not kafka_type:
        return ()
    raise UsageError(f"no empty value is known for {kafka_type}")


def _has_no_default(field: Any) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
