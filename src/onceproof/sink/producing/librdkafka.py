"""librdkafka's public C interface, as far as the fast path needs it. Declarations only.

The library is the one that confluent-kafka has loaded already (its wheel carries it): nothing else
is installed, and the two share one version. Only documented functions and the documented layout of
`rd_kafka_message_t` are used, both part of the library's stable ABI.
"""

import ctypes
from ctypes import (
    CFUNCTYPE,
    POINTER,
    c_char,
    c_char_p,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_ssize_t,
    c_void_p,
)
from enum import IntEnum
from functools import cache
from pathlib import Path

PRODUCER = 0  # rd_kafka_type_t
PARTITION_ANY = -1  # RD_KAFKA_PARTITION_UA: the partitioner decides
COPY = 0x2  # RD_KAFKA_MSG_F_COPY: the payload is copied before the call returns
OWN_PARTITION = 0x8  # RD_KAFKA_MSG_F_PARTITION: each message names its partition
PURGE_ALL = 0x1 | 0x2  # RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT
CONFIGURED = 0  # RD_KAFKA_CONF_OK
QUEUE_FULL = -184
STATE = -172  # not what it takes now: of a transaction that it has given up, any record
FATAL = -150  # what it was, rd_kafka_fatal_error tells
PURGED = (-152, -151)  # in the queue, in flight
ERROR_TEXT_BYTES = 512
VERSION_MIN = 0x02000000


class Message(ctypes.Structure):
    """rd_kafka_message_t, as rdkafka.h documents it."""

    _fields_ = (
        ("err", c_int),
        ("topic", c_void_p),
        ("partition", c_int32),
        ("payload", c_void_p),
        ("length", c_size_t),
        ("key", c_void_p),
        ("key_length", c_size_t),
        ("offset", c_int64),
        ("private", c_void_p),
    )


class ArgumentKind(IntEnum):
    """rd_kafka_vtype_t, as far as it is used."""

    TOPIC = 2  # by handle
    PARTITION = 3
    VALUE = 4
    KEY = 5
    OPAQUE = 6
    FLAGS = 7
    HEADER = 9


class _Memory(ctypes.Structure):
    _fields_ = (("address", c_void_p), ("size", c_size_t))


class _Header(ctypes.Structure):
    _fields_ = (("name", c_char_p), ("address", c_void_p), ("size", c_ssize_t))


class _ArgumentValue(ctypes.Union):
    _fields_ = (
        ("pointer", c_void_p),
        ("number", c_int32),
        ("memory", _Memory),
        ("header", _Header),
        ("padding", c_char * 64),
    )


class Argument(ctypes.Structure):
    """rd_kafka_vu_t: one argument of rd_kafka_produceva."""

    _fields_ = (("kind", c_int), ("value", _ArgumentValue))


DELIVERY_CALLBACK = CFUNCTYPE(None, c_void_p, POINTER(Message), c_void_p)
ERROR_CALLBACK = CFUNCTYPE(None, c_void_p, c_int, c_char_p, c_void_p)

_SIGNATURES = {
    "rd_kafka_version": (c_int, ()),
    "rd_kafka_conf_new": (c_void_p, ()),
    "rd_kafka_conf_set": (c_int, (c_void_p, c_char_p, c_char_p, c_char_p, c_size_t)),
    "rd_kafka_conf_destroy": (None, (c_void_p,)),
    "rd_kafka_conf_set_dr_msg_cb": (None, (c_void_p, DELIVERY_CALLBACK)),
    "rd_kafka_conf_set_error_cb": (None, (c_void_p, ERROR_CALLBACK)),
    "rd_kafka_conf_set_log_cb": (None, (c_void_p, c_void_p)),
    "rd_kafka_new": (c_void_p, (c_int, c_void_p, c_char_p, c_size_t)),
    "rd_kafka_destroy": (None, (c_void_p,)),
    "rd_kafka_metadata": (c_int, (c_void_p, c_int, c_void_p, POINTER(c_void_p), c_int)),
    "rd_kafka_metadata_destroy": (None, (c_void_p,)),
    "rd_kafka_poll": (c_int, (c_void_p, c_int)),
    "rd_kafka_flush": (c_int, (c_void_p, c_int)),
    "rd_kafka_outq_len": (c_int, (c_void_p,)),
    "rd_kafka_purge": (c_int, (c_void_p, c_int)),
    "rd_kafka_fatal_error": (c_int, (c_void_p, c_char_p, c_size_t)),
    "rd_kafka_err2str": (c_char_p, (c_int,)),
    "rd_kafka_topic_new": (c_void_p, (c_void_p, c_char_p, c_void_p)),
    "rd_kafka_topic_name": (c_char_p, (c_void_p,)),
    "rd_kafka_topic_destroy": (None, (c_void_p,)),
    "rd_kafka_produce_batch": (c_int, (c_void_p, c_int32, c_int, c_void_p, c_int)),
    "rd_kafka_produceva": (c_void_p, (c_void_p, POINTER(Argument), c_size_t)),
    "rd_kafka_init_transactions": (c_void_p, (c_void_p, c_int)),
    "rd_kafka_begin_transaction": (c_void_p, (c_void_p,)),
    "rd_kafka_commit_transaction": (c_void_p, (c_void_p, c_int)),
    "rd_kafka_abort_transaction": (c_void_p, (c_void_p, c_int)),
    "rd_kafka_error_code": (c_int, (c_void_p,)),
    "rd_kafka_error_string": (c_char_p, (c_void_p,)),
    "rd_kafka_error_is_retriable": (c_int, (c_void_p,)),
    "rd_kafka_error_destroy": (None, (c_void_p,)),
}


@cache
def library() -> ctypes.CDLL | None:
    """The library confluent-kafka runs on, with its functions declared; None if not to be had."""
    path = _loaded_path()
    if path is None or ctypes.sizeof(c_void_p) != 8:
        return None
    found = ctypes.CDLL(path)
    try:
        for name, (result, arguments) in _SIGNATURES.items():
            function = getattr(found, name)
            function.restype, function.argtypes = result, arguments
    except AttributeError:
        return None
    return found if found.rd_kafka_version() >= VERSION_MIN else None


def _loaded_path() -> str | None:
    import confluent_kafka  # noqa: F401  (loads the library)

    maps = Path("/proc/self/maps")
    if not maps.exists():
        return None
    paths = {line.split()[-1] for line in maps.read_text().splitlines() if "/librdkafka" in line}
    return sorted(paths)[0] if len(paths) == 1 else None
