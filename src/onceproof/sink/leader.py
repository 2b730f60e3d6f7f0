"""Runs on the driver. Leads each batch: ownership, manifest, lanes, and the checks of a replay.

0. what Spark has to do before the batch's last shuffle begins at once (early.py)
1. fence the predecessor, then read the last manifest, then judge who owns the sink
2. no manifest of b: a batch that will be small is written whole, by the driver (whole.py), or by
   Spark's tasks where they share one JVM (jvm/whole.py), which needs no 1; for any other the
   manifest fixes how it is cut, and then the lanes write (laned.py)
3. a manifest of b is there: a replay, by the same cut
"""

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from onceproof.sink.announcing import Announcer, Lead, TakenUp
from onceproof.sink.cut import choose_lanes
from onceproof.sink.early import EarlyStages
from onceproof.sink.errors import (
    LaneError,
    OutlastedError,
    RefusedError,
    UncollectedError,
)
from onceproof.sink.execution import query_of, require_clients
from onceproof.sink.expectation import Expectation
from onceproof.sink.jvm.access import Access
from onceproof.sink.jvm.whole import JvmWhole, LastWord
from onceproof.sink.laned import LanedBatches
from onceproof.sink.ledger.entries import Cut
from onceproof.sink.producing.transaction import closed_if_raised
from onceproof.sink.reports import BatchReport, LaneReport, rows_written
from onceproof.sink.settings import (
    LANES_DEFAULT,
    SMALL_BATCH_BYTES_DEFAULT,
    SMALL_LANE_BYTES_DEFAULT,
    Settings,
    make_settings,
)
from onceproof.sink.whole import WholeBatches

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ATTEMPTS_MAX = 5
BRIEF_SHARE = 3  # of a transaction's timeout: what is written whole by the JVM should take less
_log = logging.getLogger("onceproof.sink")


class Way(Protocol):
    """What wrote the last batch, and how long each part of it took."""

    @property
    def writer(self) -> str: ...

    @property
    def tasks_ms(self) -> float: ...

    @property
    def driver_lanes_ms(self) -> float: ...


Outcome = tuple[Way, TakenUp, list[LaneReport]]


def exactly_once_kafka(
    *,
    sink_id: str,
    options: Mapping[str, str],
    topic: str | None = None,
    lanes: int = LANES_DEFAULT,
    ledger_topic: str | None = None,
    takeover: bool = False,
    adopt: bool = False,
    small_lane_bytes: int = SMALL_LANE_BYTES_DEFAULT,
    small_batch_bytes: int = SMALL_BATCH_BYTES_DEFAULT,
    fast: bool = True,
    jvm: bool = True,
    on_batch: Callable[[BatchReport], None] | None = None,
) -> "ExactlyOnceKafka":
    """The function to give to `foreachBatch`.

    sink_id   names the sink for good: its transactional ids and its ledger are called after it
    options   client settings by Spark's names, e.g. {"kafka.bootstrap.servers": "…"}
    topic     where to write; without it each row's column `topic` says so
    lanes     how many transactions may share a batch; 1 makes a batch atomic as a whole
    takeover  write although the ledger belongs to another query (another checkpoint)
    adopt     go on with a checkpoint that has passed batches without this ledger
    small_lane_bytes   lanes up to this size are written by the driver; 0: never
    small_batch_bytes  batches expected to be up to this size are written by the driver as a whole,
                       in one transaction; 0: never
    fast      False: use confluent-kafka's own calls only
    jvm       False: lanes are never written by Spark's own JVM; all rows go through Python
    on_batch  called with the metrics of each batch after it is committed
    """
    settings = make_settings(
        sink_id=sink_id,
        topic=topic,
        options=options,
        lanes=lanes,
        ledger_topic=ledger_topic,
        takeover=takeover,
        adopt=adopt,
        small_lane_bytes=small_lane_bytes,
        small_batch_bytes=small_batch_bytes,
        fast=fast,
        jvm=jvm,
    )
    return ExactlyOnceKafka(settings, on_batch)


class ExactlyOnceKafka:
    """Called with each micro-batch, in order, by one thread. What counts, the ledger knows."""

    def __init__(
        self, settings: Settings, on_batch: Callable[[BatchReport], None] | None = None
    ) -> None:
        self._announcer = Announcer(settings)
        access = Access()
        self._laned = LanedBatches(self._announcer, access)
        self._whole = WholeBatches(self._announcer)
        self._jvm_whole = JvmWhole(self._announcer, access)
        self._expectation = Expectation(settings.small_batch_bytes)
        self._on_batch = on_batch
        self._is_first = True
        self.last_batch: BatchReport | None = None

    @property
    def last_reports(self) -> tuple[LaneReport, ...]:
        return () if self.last_batch is None else self.last_batch.lanes

    def __call__(self, batch: "DataFrame", batch_id: int) -> None:
        query = query_of(batch.sparkSession)
        if self._is_first:
            require_clients(batch.sparkSession)
            self._is_first = False
        early = EarlyStages(batch)
        try:
            self._write(batch, query, batch_id)
        except BaseException:
            self._let_go()
            early.cancel()
            raise
        _log.info("%s", self.last_batch)
        if self._on_batch is not None and self.last_batch is not None:
            self._on_batch(self.last_batch)

    def _write(self, batch: "DataFrame", query: str, batch_id: int) -> None:
        failure: LaneError | None = None
        for _ in range(ATTEMPTS_MAX):
            try:
                return self._attempt(batch, query, batch_id)
            except LaneError as again:
                # Once it may have been a pause; twice in a row it is the batch, in every replay.
                if isinstance(again, OutlastedError) and isinstance(failure, OutlastedError):
                    raise RefusedError(f"{again}; tried twice") from again
                failure = again
                _log.warning("batch %d is tried again: %s", batch_id, again)
        raise LaneError(
            f"batch {batch_id} failed {ATTEMPTS_MAX} times; last: {failure}"
        ) from failure

    def _let_go(self) -> None:
        """This query ends here: nothing of it may fence its successor later."""
        self._announcer.let_go()
        self._laned.let_go()

    def _attempt(self, batch: "DataFrame", query: str, batch_id: int) -> None:
        """What an earlier attempt committed, this one finds in the ledger: it is a replay then."""
        began = time.monotonic()
        is_for_the_jvm = self._is_for_the_jvm(batch, batch_id)
        word = self._jvm_whole.own_word(query, batch_id) if is_for_the_jvm else None
        lead = None if word is not None else self._lead(query, batch_id)
        taken_up_ms = _since(began)
        if lead is not None and lead.replays(query, batch_id):
            way, taken, reports = self._replay(batch, self._announcer.take_up_again(lead))
        elif is_for_the_jvm:
            if lead is not None:
                lead.transaction.close()  # a producer of the JVM's fences in its turn
                word = LastWord(manifest=lead.last, end=lead.end)
            assert word is not None
            way, taken, reports = self._write_in_the_jvm(batch, word, query, batch_id)
        else:
            assert lead is not None
            way, taken, reports = self._write_by_lead(batch, lead, query, batch_id)
        total_ms = _since(began)
        self._expectation.learn(sum(report.size for report in reports), total_ms / 1000)
        self.last_batch = BatchReport(
            batch=batch_id,
            cut=taken.manifest.cut,
            writer=way.writer,
            is_replay=taken.is_replay,
            rows=rows_written(reports),
            lanes=tuple(sorted(reports, key=lambda report: report.lane or 0)),
            take_up_ms=taken_up_ms,
            tasks_ms=way.tasks_ms,
            driver_lanes_ms=way.driver_lanes_ms,
            total_ms=total_ms,
        )

    def _is_for_the_jvm(self, batch: "DataFrame", batch_id: int) -> bool:
        """As a whole. The transaction is to be far from its timeout."""
        brief_s = self._announcer.settings.transaction_timeout_ms / 1000 / BRIEF_SHARE
        return self._jvm_whole.can_write(
            batch.sparkSession, batch_id
        ) and self._expectation.is_brief(batch, brief_s)

    def _lead(self, query: str, batch_id: int) -> Lead:
        self._jvm_whole.forget()
        return self._announcer.lead(query, batch_id)

    def _replay(self, batch: "DataFrame", taken: TakenUp) -> Outcome:
        if taken.manifest.cut == Cut.WHOLE:
            return self._laned, taken, [self._laned.replay_whole(batch, taken)]
        return self._laned, taken, self._laned.replay(batch, taken)

    def _write_in_the_jvm(
        self, batch: "DataFrame", word: LastWord, query: str, batch_id: int
    ) -> Outcome:
        with self._in_lanes_if_late():
            taken, report = self._jvm_whole.write(batch, word, query, batch_id)
        return self._jvm_whole, taken, [report]

    def _write_by_lead(self, batch: "DataFrame", lead: Lead, query: str, batch_id: int) -> Outcome:
        with closed_if_raised(lead.transaction):
            is_small = self._expectation.is_small(batch)
        if is_small:
            with self._in_lanes_if_late():
                taken, report = self._whole.write(batch, lead, query, batch_id)
            return self._whole, taken, [report]
        with closed_if_raised(lead.transaction):
            lanes = choose_lanes(batch, self._announcer.settings.lanes)
        taken = self._announcer.announce(lead, query, batch_id, lanes)
        return self._laned, taken, self._laned.write(batch, taken, lanes)

    @contextmanager
    def _in_lanes_if_late(self) -> Iterator[None]:
        """A batch that cannot be written whole goes by lanes at its next attempt."""
        try:
            yield
        except UncollectedError:
            self._expectation.was_wrong()
            raise
        except OutlastedError as late:
            # Spark computed for too long with the transaction open. In lanes, few rows wait for
            # their task's end first.
            self._expectation.was_wrong()
            raise UncollectedError(str(late)) from late


def _since(began: float) -> float:
    return (time.monotonic() - began) * 1000
