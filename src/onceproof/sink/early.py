"""Runs on the driver. A batch's first stages are set going while the sink still takes it up.

    foreachBatch ─┬─▶ read, fold in part, shuffle ─────────┐                Spark's map stages
                  └─▶ fence, ledger, plan ──▶ job: waits ──┴─▶ state, rows ──▶ Kafka

What comes before a batch's last shuffles depends neither on the ledger nor on how the batch is cut,
and it takes most of the time. The job finds what they left, or waits for it, as jobs that share a
stage do: nothing is computed twice.
"""

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from onceproof.sink.lineage import last_shuffles, leaf_rdds

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class EarlyStages:
    """Begun when made; in the thread of the query, so that its end is theirs, too."""

    def __init__(self, batch: "DataFrame") -> None:
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        self._begun: list[Any] = []
        context = batch.sparkSession.sparkContext._jsc.sc()
        # What cannot begin early begins with the job, and fails there if it must.
        with suppress(Py4JError, PySparkException):
            for shuffle in last_shuffles(leaf_rdds(batch)):
                self._begun.append(context.submitMapStage(shuffle))

    def cancel(self) -> None:
        """There will be no job that wants them."""
        from py4j.protocol import Py4JError

        with suppress(Py4JError):  # Spark itself is gone, and they with it
            for stage in self._begun:
                stage.cancel()
