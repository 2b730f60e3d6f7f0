"""Runs on the driver. Leads each batch: ownership, manifest, lanes, and the checks of a replay.

1. fence the predecessor, then read the last manifest, then judge who owns the sink
2. no manifest of b: commit one (it fixes the lane count), then let the lanes write
3. a manifest of b is there: a replay. First all lanes are fenced and their committed rows compared
   with the replayed ones; only if all agree do the missing lanes write
"""

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

from confluent_kafka import KafkaException

from onceproof.sink.entries import MANIFEST_KEY, MANIFEST_PARTITION, Manifest, Token
from onceproof.sink.errors import LaneError, OwnershipError, ReplayError, SinkError
from onceproof.sink.lane import REPORT_SCHEMA, LaneReport, LaneState, LaneTask, lane_function
from onceproof.sink.ledger import ensure_ledger, last_entry
from onceproof.sink.ownership import judge_ownership
from onceproof.sink.rows import in_lanes
from onceproof.sink.settings import LANES_DEFAULT, Settings, make_settings
from onceproof.sink.transactions import Transaction

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ATTEMPTS_MAX = 5
_log = logging.getLogger("onceproof.sink")


def exactly_once_kafka(
    *,
    sink_id: str,
    options: Mapping[str, str],
    topic: str | None = None,
    lanes: int = LANES_DEFAULT,
    ledger_topic: str | None = None,
    takeover: bool = False,
    adopt: bool = False,
) -> "ExactlyOnceKafka":
    """The function to give to `foreachBatch`.

    sink_id   names the sink for good: its transactional ids and its ledger are called after it
    options   client settings by Spark's names, e.g. {"kafka.bootstrap.servers": "…"}
    topic     where to write; without it each row's column `topic` says so
    lanes     how many transactions share a batch; 1 makes a batch atomic as a whole
    takeover  write although the ledger belongs to another query (another checkpoint)
    adopt     go on with a checkpoint that has passed batches without this ledger
    """
    return ExactlyOnceKafka(
        make_settings(
            sink_id=sink_id,
            topic=topic,
            options=options,
            lanes=lanes,
            ledger_topic=ledger_topic,
            takeover=takeover,
            adopt=adopt,
        )
    )


class ExactlyOnceKafka:
    """Called with each micro-batch, in order, by one thread. What counts, the ledger knows."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._has_fenced_old_lanes = False
        self.last_reports: tuple[LaneReport, ...] = ()

    def __call__(self, batch: "DataFrame", batch_id: int) -> None:
        query = _query_id(batch.sparkSession)
        manifest, is_replay = self._patiently_take_up(query, batch_id)
        if not is_replay:
            try:
                self.last_reports = self._run(batch, manifest, write=True)
                return
            except _BatchFailed as failure:
                _log.warning("batch %d is tried again: %s", batch_id, failure)
        self._replay(batch, manifest)

    def _patiently_take_up(self, query: str, batch_id: int) -> tuple[Manifest, bool]:
        failure: Exception | None = None
        for _ in range(ATTEMPTS_MAX):
            try:
                return self._take_up(query, batch_id)
            except (LaneError, KafkaException) as again:
                failure = again
                _log.warning("batch %d is taken up again: %s", batch_id, again)
        raise LaneError(
            f"batch {batch_id} could not be taken up {ATTEMPTS_MAX} times; last: {failure}"
        ) from failure

    def _take_up(self, query: str, batch_id: int) -> tuple[Manifest, bool]:
        """Fence, then read, then judge, then announce; the manifest, and whether it was there.

        For each batch anew: a driver that was away for a while finds here what its successor did.
        """
        if not self._has_fenced_old_lanes:
            ensure_ledger(self._settings, self._settings.lanes)
        transaction = Transaction(self._settings.producer(self._settings.driver_transactional_id()))
        last = last_entry(self._settings, MANIFEST_PARTITION)
        if isinstance(last, Token):
            raise SinkError(f"ledger {self._settings.ledger_topic} has a token among its manifests")
        judge_ownership(last, query, batch_id, self._settings)
        is_replay = last is not None and (last.query, last.batch) == (query, batch_id)
        manifest = last if last is not None and is_replay else self._next(last, query, batch_id)
        self._fence_old_lanes(manifest)
        if not is_replay:
            self._announce(transaction, manifest)
        return manifest, is_replay

    def _next(self, last: Manifest | None, query: str, batch_id: int) -> Manifest:
        lanes = self._settings.lanes
        ever = max(lanes, last.lanes_ever if last else 0)
        return Manifest(query=query, batch=batch_id, lanes=lanes, lanes_ever=ever)

    def _fence_old_lanes(self, manifest: Manifest) -> None:
        """Once: no one of before may still write on a lane that this run does not use."""
        if self._has_fenced_old_lanes:
            return
        for lane in range(manifest.lanes, manifest.lanes_ever):
            Transaction(self._settings.producer(self._settings.lane_transactional_id(lane)))
        self._has_fenced_old_lanes = True

    def _announce(self, transaction: Transaction, manifest: Manifest) -> None:
        transaction.begin()
        transaction.produce(
            topic=self._settings.ledger_topic,
            partition=MANIFEST_PARTITION,
            key=MANIFEST_KEY,
            value=manifest.to_bytes(),
        )
        transaction.commit()

    def _replay(self, batch: "DataFrame", manifest: Manifest) -> None:
        """Compare all that is committed first; write what is missing after."""
        ensure_ledger(self._settings, manifest.lanes)
        kept = batch.persist()  # evaluated twice: once to compare, once to write
        try:
            failure: Exception | None = None
            for _ in range(ATTEMPTS_MAX):
                try:
                    looked = self._run(kept, manifest, write=False)
                    missing = [
                        report.lane for report in looked if report.state == LaneState.MISSING
                    ]
                    self.last_reports = self._run(kept, manifest, write=True) if missing else looked
                    return
                except _BatchFailed as again:
                    failure = again
                    _log.warning("replay of batch %d is tried again: %s", manifest.batch, again)
            raise LaneError(
                f"batch {manifest.batch} failed {ATTEMPTS_MAX} times; last: {failure}"
            ) from failure
        finally:
            kept.unpersist()

    def _run(
        self, batch: "DataFrame", manifest: Manifest, *, write: bool
    ) -> tuple[LaneReport, ...]:
        """One pass over all lanes; raises for a lane that must not be written."""
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        laned = in_lanes(batch, manifest.lanes, self._settings.topic)
        task = LaneTask(
            settings=self._settings, query=manifest.query, batch=manifest.batch, write=write
        )
        try:
            reports = _collect(laned, task)
            silent = frozenset(range(manifest.lanes)) - {report.lane for report in reports}
            if silent:
                reports += _collect(_no_rows(laned, manifest.lanes), task.for_lanes(silent))
            _require_all(reports, manifest)
        except (PySparkException, Py4JError) as error:
            raise _BatchFailed(str(error)) from error
        _refuse(reports, manifest, self._settings)
        return tuple(sorted(reports, key=lambda report: report.lane))


class _BatchFailed(Exception):
    """A pass over the lanes failed; what is committed is found out by the next pass."""


def _query_id(session: "SparkSession") -> str:
    query = session.sparkContext.getLocalProperty("sql.streaming.queryId")
    if query is None:
        raise SinkError("not inside a streaming query; expected to be called by foreachBatch")
    return query


def _collect(rows: "DataFrame", task: LaneTask) -> list[LaneReport]:
    found = rows.mapInArrow(lane_function(task), REPORT_SCHEMA).collect()
    return [LaneReport(**row.asDict()) for row in found]


def _no_rows(like: "DataFrame", lanes: int) -> "DataFrame":
    """One partition a lane with nothing to write: a single row that stands for none.

    Spark runs no Python function on an empty partition, and drops the shuffle of a batch it knows
    to be empty; an empty lane must leave its token all the same.
    """
    from pyspark.sql import functions as F

    columns = [F.lit(None).cast(field.dataType).alias(field.name) for field in like.schema.fields]
    return like.sparkSession.range(0, lanes, 1, lanes).select(*columns)


def _require_all(reports: list[LaneReport], manifest: Manifest) -> None:
    reported = sorted(report.lane for report in reports)
    if reported != list(range(manifest.lanes)):
        raise _BatchFailed(f"lanes {reported} reported; expected 0 to {manifest.lanes - 1}")


def _refuse(reports: list[LaneReport], manifest: Manifest, settings: Settings) -> None:
    for report in reports:
        if report.state == LaneState.FOREIGN:
            raise OwnershipError(
                f"sink {settings.sink_id}, batch {manifest.batch}, lane {report.lane}: the ledger"
                f" holds {report.found}; another query or a later batch owns this sink"
            )
        if report.state == LaneState.DIFFERS:
            raise ReplayError(
                f"sink {settings.sink_id}, batch {manifest.batch}, lane {report.lane}: the replayed"
                f" rows are not those that were committed; replayed {report.rows} rows with digest"
                f" {report.digest}, committed {report.found}; nothing more was written."
                " The query is not deterministic, or its input changed"
            )
