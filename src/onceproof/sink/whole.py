"""Runs on the driver. A small batch whole: all its rows and its manifest in one transaction.

A lane costs a Python worker, a producer, a fence and a look at the ledger. Few rows are sooner here
than such a task has begun, and the driver's own transaction is fenced and read ahead: what is left
is one commit, which makes the batch atomic. What Spark has computed is written while it computes
the rest.
"""

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from onceproof.sink.announcing import Announcer, Lead, TakenUp
from onceproof.sink.cut import cut_batch
from onceproof.sink.errors import RefusedError
from onceproof.sink.execution import collect_rows
from onceproof.sink.ledger.entries import Cut
from onceproof.sink.reports import LaneReport, LaneState
from onceproof.sink.rows import LaneRows

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame


class WholeBatches:
    writer = "python"
    driver_lanes_ms = 0.0

    def __init__(self, announcer: Announcer) -> None:
        self._announcer = announcer
        self.tasks_ms = 0.0  # of the last batch

    def collect(self, batch: "DataFrame") -> LaneRows:
        """Computes the batch, once, while it is read."""
        cut = cut_batch(batch, Cut.WHOLE, 0, self._announcer.settings.topic)
        return LaneRows(self._timed(collect_rows(cut)))

    def write(
        self, batch: "DataFrame", lead: Lead, query: str, batch_id: int
    ) -> tuple[TakenUp, LaneReport]:
        try:
            rows = self.collect(batch)
            rows.wait_for_the_first()  # a transaction that writes nothing yet need not be open
        except BaseException:
            lead.transaction.close()
            raise
        try:
            taken, write_ms, commit_ms = self._announcer.write_whole(lead, query, batch_id, rows)
        except RefusedError as refusal:
            sink_id = self._announcer.settings.sink_id
            raise RefusedError(f"sink {sink_id}, batch {batch_id}: {refusal}") from refusal
        finally:
            # A job that is left alone would hold its state, and the next attempt wants that.
            rows.read_to_the_end()
        return taken, _report(rows, write_ms, commit_ms)

    def _timed(self, batches: "Iterator[pyarrow.RecordBatch]") -> "Iterator[pyarrow.RecordBatch]":
        began = time.monotonic()
        yield from batches
        self.tasks_ms = (time.monotonic() - began) * 1000


def _report(rows: LaneRows, write_ms: float, commit_ms: float) -> LaneReport:
    return LaneReport(
        partition=0,
        lane=None,
        state=LaneState.COMMITTED.value,
        rows=rows.digest.rows,
        digest=rows.digest.hex(),
        size=rows.size,
        write_ms=write_ms,
        commit_ms=commit_ms,
    )
