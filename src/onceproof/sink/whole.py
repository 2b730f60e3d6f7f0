"""Runs on the driver. A small batch whole: all its rows and its manifest in one transaction.

A lane costs a Python worker, a producer, a fence and a look at the ledger. Few rows are sooner here
than such a task has begun, and the driver's own transaction is fenced and read ahead: what is left
is one commit, which makes the batch atomic.
"""

import time
from typing import TYPE_CHECKING

from onceproof.sink.announcing import Announcer, Lead, TakenUp
from onceproof.sink.cut import cut_batch
from onceproof.sink.errors import RefusedError
from onceproof.sink.execution import collect_rows
from onceproof.sink.ledger.entries import Cut
from onceproof.sink.reports import LaneReport, LaneState
from onceproof.sink.rows import LaneRows
from onceproof.sink.stops import whole_does_not_match

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class WholeBatches:
    def __init__(self, announcer: Announcer) -> None:
        self._announcer = announcer
        self.tasks_ms = 0.0  # of the last batch

    def collect(self, batch: "DataFrame") -> LaneRows:
        """Computes the batch, once."""
        began = time.monotonic()
        topic = self._announcer.settings.topic
        batches = collect_rows(cut_batch(batch, Cut.WHOLE, 0, topic))
        self.tasks_ms = (time.monotonic() - began) * 1000
        return LaneRows(batches)

    def write(
        self, lead: Lead, query: str, batch_id: int, rows: LaneRows
    ) -> tuple[TakenUp, LaneReport]:
        try:
            taken, write_ms, commit_ms = self._announcer.write_whole(lead, query, batch_id, rows)
        except RefusedError as refusal:
            sink_id = self._announcer.settings.sink_id
            raise RefusedError(f"sink {sink_id}, batch {batch_id}: {refusal}") from refusal
        return taken, _report(rows, LaneState.COMMITTED, write_ms, commit_ms)

    def replay(self, batch: "DataFrame", taken: TakenUp) -> LaneReport:
        """It is committed, all of it. Computed again for its state, and compared."""
        rows = self.collect(batch)
        rows.read_to_the_end()
        committed = (taken.manifest.rows, taken.manifest.digest)
        if taken.decision is None and committed != (rows.digest.rows, rows.digest.hex()):
            raise whole_does_not_match(taken, rows.digest)
        return _report(rows, LaneState.ALREADY)


def _report(
    rows: LaneRows, state: LaneState, write_ms: float = 0.0, commit_ms: float = 0.0
) -> LaneReport:
    return LaneReport(
        partition=0,
        lane=None,
        state=state.value,
        rows=rows.digest.rows,
        digest=rows.digest.hex(),
        size=rows.size,
        write_ms=write_ms,
        commit_ms=commit_ms,
    )
