"""What is told of a transaction that took too long: once, and with what to do about it."""

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyarrow
import pytest

from onceproof.sink.errors import LaneError, OutlastedError
from onceproof.sink.producing.transaction import Record
from onceproof.sink.rows import LaneRows
from onceproof.sink.settings import Settings
from onceproof.sink.writing import write_rows

SETTINGS = Settings(
    sink_id="s",
    topic="out",
    lanes=1,
    ledger_topic="s.ledger",
    client=(),
    transaction_timeout_ms=20,
)
ROWS = pyarrow.RecordBatch.from_pylist([{"value": b"v", "__hash": 1}])


class MadeUpTransaction:
    def __init__(self) -> None:
        self.done: list[str] = []

    def begin(self) -> None: ...

    def produce_rows(self, _rows: Any, _topic: str | None) -> None: ...

    def produce_record(self, _record: Record) -> None: ...

    def flush(self) -> None:
        raise LaneError("given up by the brokers")

    def commit(self) -> None: ...

    def abandon(self) -> None:
        self.done.append("abandoned")

    def close(self) -> None: ...


def slowly() -> Iterator[pyarrow.RecordBatch]:
    yield ROWS
    time.sleep(0.03)
    yield ROWS


def written(rows: Iterator[pyarrow.RecordBatch], settings: Settings) -> MadeUpTransaction:
    transaction = MadeUpTransaction()
    record = Record(topic="s.ledger", partition=0, key=b"", value=b"")
    with pytest.raises(LaneError) as raised:
        write_rows(transaction, LaneRows(rows), lambda: record, settings, "batch 7", 0)
    transaction.done.append(str(raised.value))
    transaction.done.append(type(raised.value).__name__)
    return transaction


def test_rows_that_come_too_late_are_told_once() -> None:
    abandoned, told, kind = written(slowly(), SETTINGS).done
    assert (abandoned, kind) == ("abandoned", OutlastedError.__name__)
    assert told.count("so the brokers abort it") == 1


def test_a_failure_that_comes_of_being_late_is_told_with_its_cause() -> None:
    def late() -> Iterator[pyarrow.RecordBatch]:
        yield ROWS
        time.sleep(0.03)

    _, told, kind = written(late(), SETTINGS).done
    assert kind == OutlastedError.__name__
    assert told.endswith("; given up by the brokers")


def test_one_in_time_is_told_as_it_is() -> None:
    in_time = replace(SETTINGS, transaction_timeout_ms=60_000)
    _, told, kind = written(iter([ROWS]), in_time).done
    assert (told, kind) == ("given up by the brokers", LaneError.__name__)
