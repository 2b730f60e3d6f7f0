"""Rows and the ledger entry that stands for them, in one transaction. On executors or driver."""

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from onceproof.sink.errors import LaneError, OutlastedError
from onceproof.sink.ledger.reader import require_end
from onceproof.sink.producing.transaction import Record, Transaction
from onceproof.sink.rows import LaneRows
from onceproof.sink.settings import Settings

if TYPE_CHECKING:
    import pyarrow


def write_rows(  # noqa: PLR0917  (each of them is one thing, and none may be left out)
    transaction: Transaction,
    rows: LaneRows,
    entry: Callable[[], Record],  # asked for when all rows are read
    settings: Settings,
    place: str,
    end: int,  # of the entry's partition, as it was read
) -> tuple[float, float]:
    """The milliseconds of writing and of committing."""
    began = time.monotonic()
    try:
        transaction.begin()
        for batch in _in_time(rows, began, settings, place):
            transaction.produce_rows(batch, settings.topic)
        record = entry()
        transaction.produce_record(record)
        written = time.monotonic()
        commit_entry(transaction, record, settings, end)
    except OutlastedError:
        transaction.abandon()
        raise
    except LaneError as error:
        transaction.abandon()
        _stop_if_late(began, settings, place, error)
        raise
    except BaseException:
        transaction.abandon()
        raise
    return (written - began) * 1000, (time.monotonic() - written) * 1000


def commit_entry(transaction: Transaction, record: Record, settings: Settings, end: int) -> None:
    """Only if the ledger was read to its end: the entry lies just there."""
    assert record.partition is not None
    transaction.flush()
    require_end(settings, record.partition, end + 1)
    transaction.commit()


def _in_time(
    rows: LaneRows, began: float, settings: Settings, place: str
) -> "Iterator[pyarrow.RecordBatch]":
    for batch in rows:
        _stop_if_late(began, settings, place, None)
        yield batch


def _stop_if_late(began: float, settings: Settings, place: str, cause: LaneError | None) -> None:
    """A transaction that outlasts its timeout is aborted by the brokers, whatever we do."""
    used_ms = (time.monotonic() - began) * 1000
    limit_ms = settings.transaction_timeout_ms
    if used_ms < limit_ms:
        return
    told = outlasted(place, used_ms, limit_ms)
    raise OutlastedError(f"{told}{'' if cause is None else f'; {cause}'}") from cause


def outlasted(place: str, used_ms: float, limit_ms: int) -> str:
    return (
        f"{place}: writing took {used_ms / 1000:.1f} s, but"
        f" kafka.transaction.timeout.ms is {limit_ms} ({limit_ms / 1000:.1f} s), so the brokers"
        " abort it; raise the timeout (up to the brokers' transaction.max.timeout.ms), make batches"
        " smaller (maxOffsetsPerTrigger) or use more lanes"
    )
