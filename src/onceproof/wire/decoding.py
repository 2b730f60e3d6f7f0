"""Frames as kio's entities: every api and version of Kafka 4.3, no others."""

import functools
from collections.abc import Callable
from typing import Any

from kio.index import KioIndexError, load_request_schema, load_response_schema
from kio.schema.index import api_key_map
from kio.serial import entity_reader

from onceproof.errors import OnceproofError
from onceproof.wire.frames import LENGTH, RequestHead

Read = Callable[[bytes, int], tuple[Any, int]]


class DecodingError(OnceproofError):
    """This frame cannot be understood; it is forwarded all the same."""


@functools.cache
def api_name(api_key: int) -> str:
    """As Kafka spells it: EndTxn, InitProducerId."""
    name = api_key_map.get(api_key)
    return f"api {api_key}" if name is None else "".join(map(str.capitalize, name.split("_")))


@functools.cache
def api_keys() -> dict[str, int]:
    return {api_name(key): key for key in api_key_map}


def decode_request(frame: bytes, head: RequestHead) -> Any:
    header, body = _readers(head.api_key, head.version, is_request=True)
    return _decoded(frame, header, body, f"{api_name(head.api_key)} request v{head.version}")


def decode_response(frame: bytes, api_key: int, version: int) -> Any:
    header, body = _readers(api_key, version, is_request=False)
    return _decoded(frame, header, body, f"{api_name(api_key)} response v{version}")


def _decoded(frame: bytes, header: Read, body: Read, what: str) -> Any:
    try:
        _, head_bytes = header(frame, LENGTH.size)
        entity, _ = body(frame, LENGTH.size + head_bytes)
    except Exception as error:  # kio has no common base for what it raises
        raise DecodingError(f"{what} of {len(frame)} bytes: {error}") from error
    return entity


@functools.cache
def _readers(api_key: int, version: int, *, is_request: bool) -> tuple[Read, Read]:
    try:
        load = load_request_schema if is_request else load_response_schema
        schema: Any = load(api_key, version)
    except KioIndexError as error:
        raise DecodingError(f"{api_name(api_key)} v{version} is not known") from error
    return entity_reader(schema.__header_schema__), entity_reader(schema)
