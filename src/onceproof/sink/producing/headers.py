"""One record as arguments of rd_kafka_produceva: the only call that takes headers."""

import ctypes
from typing import Any

from onceproof.sink.errors import RefusedError
from onceproof.sink.producing.librdkafka import COPY, PARTITION_ANY, Argument, ArgumentKind
from onceproof.sink.producing.transaction import Record

_EMPTY = ctypes.create_string_buffer(1)  # what an empty, but present, field points at


def record_arguments(topic: int, record: Record, number: int) -> tuple[Any, list[Any]]:
    """The argument array, and what must be kept until the call has returned."""
    kept: list[Any] = []
    arguments = (Argument * (6 + len(record.headers)))()
    partition = PARTITION_ANY if record.partition is None else record.partition
    arguments[0].kind, arguments[0].value.pointer = ArgumentKind.TOPIC, topic
    arguments[1].kind, arguments[1].value.number = ArgumentKind.PARTITION, partition
    arguments[2].kind, arguments[2].value.number = ArgumentKind.FLAGS, COPY
    arguments[3].kind, arguments[3].value.pointer = ArgumentKind.OPAQUE, number
    arguments[4].kind = ArgumentKind.VALUE
    _point(arguments[4].value.memory, record.value, kept)
    arguments[5].kind = ArgumentKind.KEY
    _point(arguments[5].value.memory, record.key, kept)
    for place, (name, content) in enumerate(record.headers, start=6):
        if name is None:
            raise RefusedError(f"record {number}: a header has no name")
        arguments[place].kind = ArgumentKind.HEADER
        encoded = name.encode()
        kept.append(encoded)
        arguments[place].value.header.name = encoded
        _point(arguments[place].value.header, content, kept)
    return arguments, kept


def _point(memory: Any, content: bytes | None, kept: list[Any]) -> None:
    if content is None:
        memory.address, memory.size = None, 0
        return
    kept.append(content)
    place = ctypes.cast(ctypes.c_char_p(content), ctypes.c_void_p).value
    memory.address = place if content else ctypes.addressof(_EMPTY)
    memory.size = len(content)
