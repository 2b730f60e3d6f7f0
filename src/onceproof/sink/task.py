"""Runs on executors. The function of each Spark task: measure its rows, carry them, or write them.

measure   read the rows and tell their digest: nothing is written
write     a few rows (small_lane_bytes) go back to the driver, which has its producers ready;
          more are written here, by `lane.carry_out`
"""

import importlib.util
import socket
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from onceproof.sink.background import Background
from onceproof.sink.errors import RefusedError
from onceproof.sink.reports import LaneReport, LaneState
from onceproof.sink.rows import LaneRows, packed
from onceproof.sink.work import Work

if TYPE_CHECKING:
    import pyarrow

    from onceproof.sink.lane import OpenLane

HELD_BYTES_MAX = 8 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Task:
    """Plain data, pickled to executors."""

    work: Work
    lane_of: dict[int, int]  # Spark partition → lane; a partition that is not in it is only read
    write: bool


def task_function(
    task: Task,
) -> Callable[[Iterator["pyarrow.RecordBatch"]], Iterator["pyarrow.RecordBatch"]]:
    """For DataFrame.mapInArrow: one report a partition."""

    def run(batches: Iterator["pyarrow.RecordBatch"]) -> Iterator["pyarrow.RecordBatch"]:
        import pyarrow
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        report = perform(task, context.partitionId(), batches)
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

    opening = Background(lambda: _opened(task.work, lane))
    try:
        # Spark computes the first rows meanwhile.
        rows.hold_while(opening.is_running, HELD_BYTES_MAX)
    finally:
        # Waited for even if the rows failed: left alone, it would fence the next attempt.
        opened = opening.result()
    if isinstance(opened, RefusedError):
        rows.read_to_the_end()
        return _report(partition, lane, LaneState.REFUSED, rows, detail=str(opened))
    return carry_out(opened, task.work, rows, partition)


def _opened(work: Work, lane: int) -> "OpenLane | RefusedError":
    from onceproof.sink.lane import open_lane, wait_for_manifest

    try:
        opened = open_lane(work.settings, lane)
        wait_for_manifest(work)
    except RefusedError as refusal:
        return refusal
    return opened


def probe(batches: "Iterator[pyarrow.RecordBatch]") -> "Iterator[pyarrow.RecordBatch]":
    """For DataFrame.mapInArrow: a row where this executor lacks something, else none."""
    import pyarrow

    for _ in batches:
        pass
    missing = missing_client()
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
