"""Runs on the driver. Takes a batch up: fence, then read, then judge, then announce.

For each batch anew: a driver that was away for a while finds here what its successor did. The fence
and the reading for the next batch are done ahead; whoever comes in between fences us, and then the
announcement fails and everything is asked again.

The manifest is committed beside Spark's tasks, which compute meanwhile: the driver waits for it
before it writes a lane (`confirm`), and an executor reads it from the ledger before it does.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from onceproof.sink.ahead import Ahead, Background
from onceproof.sink.client.connection import require_connection
from onceproof.sink.cut import choose_cut
from onceproof.sink.errors import SinkError
from onceproof.sink.ledger.entries import (
    MANIFEST_KEY,
    MANIFEST_PARTITION,
    Decision,
    Manifest,
    Ruling,
    Token,
)
from onceproof.sink.ledger.reader import last_entry
from onceproof.sink.ledger.topic import EAGER_BROKERS_MAX, ensure_ledger, warn_of_old_brokers
from onceproof.sink.ownership import judge_ownership
from onceproof.sink.producing.transaction import Record, Transaction, open_transaction
from onceproof.sink.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, kw_only=True)
class TakenUp:
    """A batch that is ours to write, and how."""

    settings: Settings
    manifest: Manifest
    is_replay: bool
    decision: Decision | None  # an operator's, about this very batch


@dataclass(frozen=True, kw_only=True)
class Lead:
    """The sink is ours: its driver's id fenced, and the last word of the ledger read after that."""

    transaction: Transaction
    manifest: Manifest | None
    decision: Decision | None


class Announcer:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._is_first = True
        self._ahead: Ahead[Lead] | None = None
        self._announcement: Background[None] | None = None

    def take_up(self, batch: "DataFrame", query: str, batch_id: int) -> TakenUp:
        """Returns while the manifest is still being committed: see `confirm`."""
        if self._is_first:
            self._prepare_ledger()
        lead = self._take_lead()
        if _is_of(lead.manifest, query, batch_id):
            # Nothing will be announced, so nothing would tell us that we were fenced meanwhile.
            lead.transaction.close()
            lead = self._lead()
        last = lead.manifest
        judge_ownership(last, query, batch_id, self._settings)
        is_replay = _is_of(last, query, batch_id)
        manifest = last if last and is_replay else self._next(batch, last, query, batch_id)
        self._fence_old_lanes(manifest)
        self._announcement = Background(lambda: self._end(lead, None if is_replay else manifest))
        return TakenUp(
            settings=self._settings,
            manifest=manifest,
            is_replay=is_replay,
            decision=lead.decision if is_replay else None,
        )

    def confirm(self) -> None:
        """Return when the manifest is committed; LaneError if that failed."""
        announcement, self._announcement = self._announcement, None
        if announcement is not None:
            announcement.result()
            self._ahead = Ahead(self._lead, lambda unused: unused.transaction.close())

    def let_go(self) -> None:
        ahead, self._ahead = self._ahead, None
        if ahead is not None:
            ahead.drop()

    def _prepare_ledger(self) -> None:
        require_connection(dict(self._settings.client))
        brokers = ensure_ledger(self._settings, self._settings.lanes)
        warn_of_old_brokers(self._settings)
        self._settings = replace(self._settings, connect_to_all=brokers <= EAGER_BROKERS_MAX)

    def _take_lead(self) -> Lead:
        ahead, self._ahead = self._ahead, None
        return self._lead() if ahead is None else ahead.take()

    def _lead(self) -> Lead:
        settings = self._settings
        transaction = open_transaction(
            settings.producer(settings.driver_transactional_id()), fast=settings.fast
        )
        last = last_entry(settings, MANIFEST_PARTITION)
        if isinstance(last, Token):
            raise SinkError(f"ledger {settings.ledger_topic} has a token among its manifests")
        if isinstance(last, Ruling):
            return Lead(
                transaction=transaction,
                manifest=last.manifest,
                decision=Decision(last.decision),
            )
        return Lead(transaction=transaction, manifest=last, decision=None)

    def _next(
        self, batch: "DataFrame", last: Manifest | None, query: str, batch_id: int
    ) -> Manifest:
        cut, lanes = choose_cut(batch, self._settings.lanes)
        ever = max(lanes, last.lanes_ever if last else 0)
        return Manifest(query=query, batch=batch_id, lanes=lanes, lanes_ever=ever, cut=cut.value)

    def _fence_old_lanes(self, manifest: Manifest) -> None:
        """Once: no one of before may still write on a lane that this run does not use."""
        if not self._is_first:
            return
        for lane in range(manifest.lanes, manifest.lanes_ever):
            lane_id = self._settings.lane_transactional_id(lane)
            open_transaction(self._settings.producer(lane_id), fast=self._settings.fast).close()
        self._is_first = False

    def _end(self, lead: Lead, manifest: Manifest | None) -> None:
        """Commit the manifest, if there is one to commit; this lead is used up."""
        try:
            if manifest is not None:
                _announce(lead.transaction, manifest, self._settings.ledger_topic)
        finally:
            lead.transaction.close()


def _announce(transaction: Transaction, manifest: Manifest, ledger_topic: str) -> None:
    transaction.begin()
    transaction.produce_record(
        Record(
            topic=ledger_topic,
            partition=MANIFEST_PARTITION,
            key=MANIFEST_KEY,
            value=manifest.to_bytes(),
        )
    )
    transaction.commit()


def _is_of(manifest: Manifest | None, query: str, batch_id: int) -> bool:
    return manifest is not None and (manifest.query, manifest.batch) == (query, batch_id)
