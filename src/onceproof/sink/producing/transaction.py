"""What a lane needs of a producer: one transaction, made fenced, with every error told apart.

A new producer for each transaction: librdkafka allows one init_transactions per producer, and each
init bumps the epoch, so that a delayed EndTxn of an earlier transaction is refused (KAFKA-17754).
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from onceproof.sink.errors import LaneError, RefusedError

if TYPE_CHECKING:
    import pyarrow

INIT_S_MAX = 60.0
# InitProducerId is refused while the last transaction of the id completes, and librdkafka then
# waits for a fixed timer of 500 ms. A new producer asks again at once: so the first ones get
# little time, and each one twice as much as the one before.
FIRST_INIT_S = 0.25
COMMIT_S_MAX = 120.0
TIMEOUT_MS_DEFAULT = 60_000  # of librdkafka's transactions
ABORT_S_MAX = 10.0
QUEUE_FULL_WAIT_S = 0.01
RETRY_PAUSE_S = 0.05
NAMED_TOPICS_MAX = 5


@dataclass(frozen=True, kw_only=True)
class Record:
    """One record by itself: a ledger entry, or a row with headers."""

    topic: str
    partition: int | None = None
    key: bytes | None = None
    value: bytes | None = None
    headers: tuple[tuple[str, bytes | None], ...] = ()


class Transaction(Protocol):
    """Made = fenced: nobody who used this transactional id before can commit any more."""

    def begin(self) -> None: ...

    def produce_rows(self, rows: "pyarrow.RecordBatch", topic: str | None) -> None:
        """A batch with the columns value and perhaps key, headers, topic, partition."""
        ...

    def produce_record(self, record: Record) -> None: ...

    def flush(self) -> None:
        """Return when all that was produced has arrived."""
        ...

    def commit(self) -> None:
        """Commit, or raise: after that the outcome is for the next fence-and-read to find out."""
        ...

    def abandon(self) -> None:
        """Abort as far as possible; what cannot be aborted is fenced by the next attempt."""
        ...

    def close(self) -> None: ...


def open_transaction(configuration: Mapping[str, str], *, fast: bool) -> Transaction:
    """Fence; through the C library where that can be had, else through confluent-kafka."""
    from onceproof.sink.producing.librdkafka import library

    loaded = library() if fast else None
    if loaded is not None:
        from onceproof.sink.producing.native import NativeTransaction

        return NativeTransaction(loaded, configuration)
    from onceproof.sink.producing.plain import PlainTransaction

    return PlainTransaction(configuration)


@contextmanager
def closed_if_raised(transaction: Transaction) -> Iterator[None]:
    """A producer that nobody closes lives on, with its threads, until Python collects garbage."""
    try:
        yield
    except BaseException:
        transaction.close()
        raise


def timeout_s(configuration: Mapping[str, str]) -> float:
    """After that the brokers abort the transaction: nobody needs to wait for longer."""
    return float(configuration.get("transaction.timeout.ms", TIMEOUT_MS_DEFAULT)) / 1000


def undelivered(transactional_id: str, records: int, after_s: float) -> LaneError:
    return LaneError(f"{transactional_id}: {records} records not delivered after {after_s:.1f} s")


def named_topics(topics: Iterable[str]) -> str:
    """For messages: librdkafka does not say which topic of a transaction was refused."""
    names = sorted(topics)
    more = ", …" if len(names) > NAMED_TOPICS_MAX else ""
    return f"topics {', '.join(names[:NAMED_TOPICS_MAX])}{more}"


def refuse_rows_without_topic(rows: "pyarrow.RecordBatch", topic: str | None) -> None:
    if topic is None and rows.column("topic").null_count:
        raise RefusedError("a row has no topic, and the sink was given none")


def records_of(rows: "pyarrow.RecordBatch", topic: str | None) -> Iterable[Record]:
    """Row by row, for what the batch call cannot take: headers, and the plain path."""
    columns = {name: rows.column(name).to_pylist() for name in rows.schema.names}
    absent = [None] * rows.num_rows
    for own_topic, partition, key, value, headers in zip(
        *(columns.get(name, absent) for name in ("topic", "partition", "key", "value", "headers")),
        strict=True,
    ):
        yield Record(
            topic=topic if topic is not None else own_topic,
            partition=partition,
            key=key,
            value=value,
            headers=tuple((header["key"], header["value"]) for header in headers or ()),
        )
