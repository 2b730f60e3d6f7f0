"""Runs on executors. One lane of one batch: fence, then read the own token, then decide.

no token of b, or an older one   → rows and the token of b in one transaction
token of b                       → already committed: the replayed rows must have the same digest
token above b, or another query  → somebody else owns this sink: refuse
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from onceproof.sink.digest import RowsDigest
from onceproof.sink.entries import Manifest, Token, lane_key, lane_partition
from onceproof.sink.ledger import last_entry
from onceproof.sink.rows import Record, records
from onceproof.sink.settings import Settings
from onceproof.sink.transactions import Transaction

if TYPE_CHECKING:
    import pyarrow

SERVE_DELIVERIES_EVERY = 1000


class LaneState(StrEnum):
    COMMITTED = "committed"  # written and committed by this task
    ALREADY = "already"  # a token of this batch was there, and its digest agrees
    MISSING = "missing"  # not written yet (only looked at)
    DIFFERS = "differs"  # a token of this batch was there, and its digest does not agree
    FOREIGN = "foreign"  # the token belongs to a later batch or to another query


REPORT_SCHEMA = """
    lane long, state string, rows long, digest string, found string,
    fence_ms double, read_ms double, commit_ms double
"""


@dataclass(frozen=True, kw_only=True)
class LaneReport:
    lane: int
    state: str
    rows: int
    digest: str
    found: str  # the ledger entry that decided, for the error message
    fence_ms: float
    read_ms: float
    commit_ms: float


@dataclass(frozen=True, kw_only=True)
class LaneTask:
    """What a task needs to know; plain data, pickled to executors."""

    settings: Settings
    query: str
    batch: int
    write: bool  # False: only fence, read and compute the digest
    only: frozenset[int] | None = None  # lanes to act on; None: all

    def for_lanes(self, lanes: frozenset[int]) -> "LaneTask":
        return replace(self, only=lanes)


def lane_function(
    task: LaneTask,
) -> Callable[[Iterator["pyarrow.RecordBatch"]], Iterator["pyarrow.RecordBatch"]]:
    """For DataFrame.mapInArrow: the task of partition n carries out lane n and reports one row."""

    def run(batches: Iterator["pyarrow.RecordBatch"]) -> Iterator["pyarrow.RecordBatch"]:
        import pyarrow
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        lane = context.partitionId()
        if task.only is not None and lane not in task.only:
            return
        report = carry_out(task, lane, batches)
        yield pyarrow.RecordBatch.from_pylist([asdict(report)])

    return run


def carry_out(task: LaneTask, lane: int, batches: Iterator["pyarrow.RecordBatch"]) -> LaneReport:
    started = time.monotonic()
    transaction = Transaction(task.settings.producer(task.settings.lane_transactional_id(lane)))
    fenced = time.monotonic()
    entry = last_entry(task.settings, lane_partition(lane))
    read = time.monotonic()
    state = decide(entry, task)
    digest = RowsDigest()
    rows = records(batches, lane, task.settings.topic)
    commit_ms = 0.0
    if state is LaneState.MISSING and task.write:
        commit_ms = _write(transaction, task, lane, rows, digest)
        state = LaneState.COMMITTED
    else:
        # Read to the end even where nothing is written: a task that stops reading a stateful
        # iterator early leaves its state version uncommitted.
        for row in rows:
            digest.add(row.topic, row.partition, row.key, row.value, row.headers)
        if state is LaneState.ALREADY and not _agrees(entry, digest):
            state = LaneState.DIFFERS
    return LaneReport(
        lane=lane,
        state=state.value,
        rows=digest.rows,
        digest=digest.hex(),
        found="none" if entry is None else entry.to_bytes().decode(),
        fence_ms=(fenced - started) * 1000,
        read_ms=(read - fenced) * 1000,
        commit_ms=commit_ms,
    )


def decide(entry: Manifest | Token | None, task: LaneTask) -> LaneState:
    """What the last token says about this batch. Pure; the heart of the protocol."""
    if entry is None:
        return LaneState.MISSING
    if isinstance(entry, Manifest):
        return LaneState.FOREIGN
    if entry.query != task.query:
        return LaneState.MISSING if task.settings.takeover else LaneState.FOREIGN
    if entry.batch > task.batch:
        return LaneState.FOREIGN
    return LaneState.ALREADY if entry.batch == task.batch else LaneState.MISSING


def _agrees(entry: Manifest | Token | None, digest: RowsDigest) -> bool:
    return isinstance(entry, Token) and entry.rows == digest.rows and entry.digest == digest.hex()


def _write(
    transaction: Transaction, task: LaneTask, lane: int, rows: Iterator[Record], digest: RowsDigest
) -> float:
    """Rows and token in one transaction; the milliseconds the commit took."""
    transaction.begin()
    try:
        for row in rows:
            digest.add(row.topic, row.partition, row.key, row.value, row.headers)
            place = {} if row.partition is None else {"partition": row.partition}
            transaction.produce(
                topic=row.topic, key=row.key, value=row.value, headers=row.headers, **place
            )
            if digest.rows % SERVE_DELIVERIES_EVERY == 0:
                transaction.serve_deliveries()
        token = Token(
            query=task.query, batch=task.batch, lane=lane, rows=digest.rows, digest=digest.hex()
        )
        transaction.produce(
            topic=task.settings.ledger_topic,
            partition=lane_partition(lane),
            key=lane_key(lane),
            value=token.to_bytes(),
        )
        started = time.monotonic()
        transaction.commit()
    except BaseException:
        transaction.abandon()
        raise
    return (time.monotonic() - started) * 1000
