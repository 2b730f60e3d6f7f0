"""Records that are not delivered within the transaction's timeout are told, by both paths."""

from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from onceproof.sink.errors import FencedError, LaneError
from onceproof.sink.producing.native import NativeTransaction
from onceproof.sink.producing.plain import PlainTransaction
from onceproof.sink.producing.transaction import Record

TIMED_OUT = -185
LEFT = 7
CONFIGURATION = {"transactional.id": "s-lane-0", "transaction.timeout.ms": "50"}


class Library:
    """A librdkafka whose brokers are gone: so many records stay in its queue."""

    def __init__(self, left: int = LEFT) -> None:
        self.left = left
        self.destroyed: list[int] = []

    def rd_kafka_flush(self, _handle: int, _slice_ms: int) -> int:
        return TIMED_OUT if self.left else 0

    def rd_kafka_outq_len(self, _handle: int) -> int:
        return self.left

    def rd_kafka_destroy(self, handle: int) -> None:
        self.destroyed.append(handle)


class Producer:
    def __init__(self, left: int) -> None:
        self.left = left
        self.waited_s: list[float] = []

    def init_transactions(self, timeout_s: float) -> None: ...

    def list_topics(self, timeout: float) -> None: ...

    def flush(self, timeout_s: float) -> int:
        self.waited_s.append(timeout_s)
        return self.left


class Native(NativeTransaction):
    def _fence(self) -> None:
        self._handle = 1


def native(left: int) -> NativeTransaction:
    library: Any = Library(left)
    return Native(library, CONFIGURATION)


def plain(left: int, monkeypatch: pytest.MonkeyPatch) -> tuple[PlainTransaction, Producer]:
    producer = Producer(left)
    monkeypatch.setattr(PlainTransaction, "_new_producer", lambda *_: producer)
    return PlainTransaction(CONFIGURATION), producer


def test_a_flush_ends_with_the_transactions_timeout_and_tells_what_is_left() -> None:
    with pytest.raises(LaneError, match=r"s-lane-0: 7 records not delivered after 0\.1 s"):
        native(LEFT).flush()
    native(0).flush()


def test_so_does_that_of_the_plain_path(monkeypatch: pytest.MonkeyPatch) -> None:
    transaction, producer = plain(LEFT, monkeypatch)
    with pytest.raises(LaneError, match=r"s-lane-0: 7 records not delivered after 0\.1 s"):
        transaction.flush()
    assert producer.waited_s == [0.05]
    plain(0, monkeypatch)[0].flush()


@pytest.mark.parametrize("is_hidden", [False, True])
def test_a_fence_that_the_plain_path_hears_of_in_a_callback_is_told_as_one(
    monkeypatch: pytest.MonkeyPatch, *, is_hidden: bool
) -> None:
    transaction, producer = plain(LEFT, monkeypatch)

    def fenced(_timeout_s: float) -> int:
        fatal = KafkaException(KafkaError(KafkaError._FENCED))
        if is_hidden:
            raise SystemError("a callback returned a result with an exception set") from fatal
        raise fatal

    monkeypatch.setattr(producer, "flush", fenced)
    with pytest.raises(FencedError, match="s-lane-0"):
        transaction.flush()


def test_a_fatal_error_of_the_plain_path_is_told_by_its_first_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    transaction, producer = plain(0, monkeypatch)

    def given_up(**_: Any) -> None:
        raise KafkaException(KafkaError(KafkaError._FATAL))

    def fenced(_timeout_s: float) -> None:
        raise KafkaException(KafkaError(KafkaError._FENCED))

    monkeypatch.setattr(producer, "produce", given_up, raising=False)
    monkeypatch.setattr(producer, "abort_transaction", fenced, raising=False)
    with pytest.raises(FencedError):
        transaction.produce_record(Record(topic="out", value=b"v"))


def test_any_other_system_error_stays_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    transaction, producer = plain(LEFT, monkeypatch)

    def broken(_timeout_s: float) -> int:
        raise SystemError("unknown opcode")

    monkeypatch.setattr(producer, "flush", broken)
    with pytest.raises(SystemError, match="unknown opcode"):
        transaction.flush()


class NoBroker(NativeTransaction):
    def _new_handle(self) -> int:
        return 3

    def _connect(self, _budget: Any) -> bool:
        raise LaneError("no broker answers")


def test_a_producer_that_cannot_fence_is_closed() -> None:
    library: Any = Library()
    with pytest.raises(LaneError, match="no broker answers") as kept:
        NoBroker(library, CONFIGURATION)
    assert kept.value is not None  # its traceback still holds the transaction
    assert library.destroyed == [3]
