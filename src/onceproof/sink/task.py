"""Runs on executors. The function of each Spark task: measure its rows, carry them, or write them.

measure   read the rows and tell their digest: nothing is written
write     a few rows (small_lane_bytes) go back to the driver, which has its producers ready;
          more are written here, by `lane.carry_out`
"""

import importlib.util
import logging
import socket
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from onceproof.sink.background import Background
from onceproof.sink.errors import FencedError, RefusedError
from onceproof.sink.reports import LaneReport, LaneState
from onceproof.sink.rows import LaneRows, packed
from onceproof.sink.spark_end import NO_INPUT, UntilSparkEnds, worker_input
from onceproof.sink.work import Work

if TYPE_CHECKING:
    import pyarrow

    from onceproof.sink.lane import OpenLane
    from onceproof.sink.ledger.entries import Token

HELD_BYTES_MAX = 8 * 1024 * 1024
_log = logging.getLogger("onceproof.sink")


@dataclass(frozen=True, kw_only=True)
class Task:
    """Plain data, pickled to executors."""

    work: Work
    lane_of: dict[int, int]  # Spark partition → lane; a partition that is not in it is only read
    write: bool
    has_twins: bool = False  # Spark may start a second attempt while the first one runs


def task_function(
    task: Task,
) -> Callable[[Iterator["pyarrow.RecordBatch"]], Iterator["pyarrow.RecordBatch"]]:
    """For DataFrame.mapInArrow: one report a partition."""

    def run(batches: Iterator["pyarrow.RecordBatch"]) -> Iterator["pyarrow.RecordBatch"]:
        import pyarrow
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        report = perform(task, context.partitionId(), UntilSparkEnds(batches))
        yield pyarrow.RecordBatch.from_pylist([asdict(report)])

    return run


def perform(task: Task, partition: int, batches: "Iterator[pyarrow.RecordBatch]") -> LaneReport:
    rows = LaneRows(batches, lane=partition)
    lane = task.lane_of.get(partition)
    if lane is None or not task.write:
        rows.read_to_the_end()
        return _report(partition, lane, LaneState.MEASURED, rows)
    missing = missing_client()
    if missing is not None:
        rows.read_to_the_end()
        return _report(partition, lane, LaneState.REFUSED, rows, detail=missing)
    return _write_or_carry(task, partition, lane, rows)


def _write_or_carry(task: Task, partition: int, lane: int, rows: LaneRows) -> LaneReport:
    few = rows.all_if_few(task.work.settings.small_lane_bytes)
    if few is not None:
        return _report(partition, lane, LaneState.CARRIED, rows, carried=packed(few))
    from onceproof.sink.lane import carry_out

    opened = _opened_beside(rows, task.work, lane)
    if isinstance(opened, RefusedError):
        rows.read_to_the_end()
        return _report(partition, lane, LaneState.REFUSED, rows, detail=str(opened))
    try:
        return carry_out(opened, task.work, rows, partition)
    except FencedError as fenced:
        token = _of_a_twin(task, lane, rows)
        if token is None:
            raise
        _log.info("lane %d was written by a twin of this task: %s", lane, fenced)
        detail = token.to_bytes().decode()
        return _report(partition, lane, LaneState.ALREADY, rows, detail=detail)


def _of_a_twin(task: Task, lane: int, rows: LaneRows) -> "Token | None":
    """What another attempt at this very lane, which has fenced us, has committed of it.

    Where Spark speculates, it is waited for: failing at once, we would be started again, and fence
    it in turn, until Spark counts too many failures.
    """
    from onceproof.sink.lane import agrees, wait_for_token

    rows.read_to_the_end()
    wait_s = task.work.settings.transaction_timeout_ms / 1000 if task.has_twins else 0.0
    token = wait_for_token(task.work, lane, wait_s)
    return token if not task.work.verify or agrees(token, rows) else None


def _opened_beside(rows: LaneRows, work: Work, lane: int) -> "OpenLane | RefusedError":
    """Spark computes the first rows meanwhile."""
    opening = Background(lambda: _opened(work, lane))
    try:
        rows.hold_while(opening.is_running, HELD_BYTES_MAX)
    except BaseException:
        # Waited for all the same: left alone, it would fence the next attempt.
        opened = opening.result()
        if not isinstance(opened, RefusedError):
            opened.transaction.close()
        raise
    return opening.result()


def _opened(work: Work, lane: int) -> "OpenLane | RefusedError":
    from onceproof.sink.lane import open_lane, wait_for_manifest
    from onceproof.sink.producing.transaction import closed_if_raised

    try:
        opened = open_lane(work.settings, lane)
        with closed_if_raised(opened.transaction):
            wait_for_manifest(work)
    except RefusedError as refusal:
        return refusal
    return opened


def probe(batches: "Iterator[pyarrow.RecordBatch]") -> "Iterator[pyarrow.RecordBatch]":
    """For DataFrame.mapInArrow: a row where this executor lacks something, else none."""
    import pyarrow

    for _ in batches:
        pass
    missing = missing_client() or (None if worker_input() else NO_INPUT)
    if missing is not None:
        yield pyarrow.RecordBatch.from_pylist([{"lacks": missing}])


def missing_client() -> str | None:
    """What this executor lacks, by name; looked for even where the driver will write."""
    lacking = [
        name for name in ("confluent_kafka", "numpy") if importlib.util.find_spec(name) is None
    ]
    if not lacking:
        return None
    packages = ", ".join(name.replace("_", "-") for name in lacking)
    return (
        f"executor on {socket.gethostname()} has no Python package {packages};"
        " docs/sink.md tells how to ship it"
    )


def _report(
    partition: int,
    lane: int | None,
    state: LaneState,
    rows: LaneRows,
    *,
    detail: str = "",
    carried: bytes | None = None,
) -> LaneReport:
    return LaneReport(
        partition=partition,
        lane=lane,
        state=state.value,
        rows=rows.digest.rows,
        digest=rows.digest.hex(),
        size=rows.size,
        detail=detail,
        carried=carried,
    )
