"""Runs on the driver. Takes a batch up: fence, then read, then judge, then announce.

For each batch anew: a driver that was away for a while finds here what its successor did. The fence
and the reading for the next batch are done ahead; whoever comes in between fences us, and then the
announcement fails and everything is asked again.

The manifest is committed beside Spark's tasks, which compute meanwhile: the driver waits for it
before it writes a lane (`confirm`), and an executor reads it from the ledger before it does. A
batch that is written whole is announced by the very transaction that writes it.
"""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from onceproof.sink.ahead import Ahead
from onceproof.sink.background import Background
from onceproof.sink.client.connection import require_connection
from onceproof.sink.cut import Lanes
from onceproof.sink.errors import LaneError, OwnershipError, SinkError
from onceproof.sink.ledger.entries import (
    MANIFEST_KEY,
    MANIFEST_PARTITION,
    Cut,
    Decision,
    Manifest,
    Ruling,
    Token,
    lane_partition,
    ruling_key,
)
from onceproof.sink.ledger.reader import last_entry, last_word
from onceproof.sink.ledger.topic import EAGER_BROKERS_MAX, ensure_ledger, warn_of_old_brokers
from onceproof.sink.ownership import judge_ownership, predecessors, refuse_tokens_ahead
from onceproof.sink.producing.transaction import (
    Record,
    Transaction,
    closed_if_raised,
    open_transaction,
)
from onceproof.sink.rows import LaneRows
from onceproof.sink.settings import Settings
from onceproof.sink.writing import commit_entry, write_rows


@dataclass(frozen=True, kw_only=True)
class TakenUp:
    """A batch that is ours to write, and how."""

    settings: Settings
    manifest: Manifest
    is_replay: bool
    announced_at: int | None = None  # where its manifest lies, if this run has announced it
    decision: Decision | None = None  # an operator's, about this very batch


@dataclass(frozen=True, kw_only=True)
class Lead:
    """The sink is ours: its driver's id fenced, and the last word of the ledger read after that."""

    transaction: Transaction
    last: Manifest | None
    end: int  # of the manifests' partition, when `last` was read
    ruling: Ruling | None = None  # an operator's, about the batch of `last`

    def replays(self, query: str, batch_id: int) -> bool:
        return self.last is not None and (self.last.query, self.last.batch) == (query, batch_id)


class Announcer:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._is_first = True
        self._led: str | None = None  # the query of which a manifest was committed here
        self._ahead: Ahead[Lead] | None = None
        self._announcement: Background[str] | None = None  # tells whose manifest it was

    @property
    def settings(self) -> Settings:
        return self._settings

    def lead(self, query: str, batch_id: int) -> Lead:
        """The lead for this batch, which is ours to write or to replay."""
        if self._is_first:
            self._prepare_ledger()
        # Of an attempt that failed: whether it was committed, the ledger will tell.
        self._announcement = None
        lead = self._take_lead()
        has_led = self._led == query
        with closed_if_raised(lead.transaction), self._asked_anew_if_refused(lead):
            if not has_led:
                refuse_tokens_ahead(self._tokens(lead.last), lead.last, query, self._settings)
        if lead.replays(query, batch_id):
            # Nothing will be announced, so nothing would tell us that we were fenced meanwhile.
            lead.transaction.close()
            lead = self._lead()
        with closed_if_raised(lead.transaction), self._asked_anew_if_refused(lead):
            judge_ownership(lead.last, query, batch_id, self._settings, has_led=has_led)
        return lead

    def take_up_again(self, lead: Lead) -> TakenUp:
        """A batch that was announced before, by whomever: as its manifest has it.

        What is to be written in lanes is announced again, by a new name, before its lanes are
        fenced: a task of before either knows the old name by then, and is fenced, or finds the new
        one, and gives up.
        """
        assert lead.last is not None
        manifest, ruling = lead.last, lead.ruling
        if manifest.cut == Cut.WHOLE:
            lead.transaction.close()
        else:
            manifest = replace(manifest, announcement=_new_name())
            again = manifest if ruling is None else replace(ruling, manifest=manifest)
            self._commit(lead, self._record(again))
        self.has_announced(manifest)
        self._make_ahead()
        return TakenUp(
            settings=self._settings,
            manifest=manifest,
            is_replay=True,
            decision=None if ruling is None else Decision(ruling.decision),
        )

    def announce(self, lead: Lead, query: str, batch_id: int, lanes: Lanes) -> TakenUp:
        """Returns while the manifest is still being committed: see `confirm`."""
        manifest = self.manifest(lead.last, query, batch_id, lanes)

        def commit() -> str:
            self._commit(lead, self._record(manifest))
            self._fence_old_lanes(manifest)
            return query

        self._announcement = Background(commit)
        return TakenUp(
            settings=self._settings, manifest=manifest, is_replay=False, announced_at=lead.end
        )

    def write_whole(
        self, lead: Lead, query: str, batch_id: int, rows: LaneRows
    ) -> tuple[TakenUp, float, float]:
        """All rows and the manifest at once, and the milliseconds of writing and committing."""
        manifest = self.manifest(lead.last, query, batch_id, Lanes(cut=Cut.WHOLE, count=0))

        def entry() -> Record:
            return self._record(replace(manifest, rows=rows.digest.rows, digest=rows.digest.hex()))

        with closed_if_raised(lead.transaction):
            write_ms, commit_ms = write_rows(
                lead.transaction, rows, entry, self._settings, f"batch {batch_id}", lead.end
            )
            self.has_announced(manifest)
        Background(lead.transaction.close)  # committed: nobody needs to wait for its threads' end
        self._make_ahead()
        taken = TakenUp(settings=self._settings, manifest=manifest, is_replay=False)
        return taken, write_ms, commit_ms

    def manifest(self, last: Manifest | None, query: str, batch_id: int, lanes: Lanes) -> Manifest:
        """For a batch that comes after that of `last`."""
        return Manifest(
            query=query,
            batch=batch_id,
            lanes=lanes.count,
            lanes_ever=max(lanes.count, last.lanes_ever if last else 0),
            cut=lanes.cut.value,
            announcement=_new_name(),
            sources=tuple(sorted(lanes.sources)),
            predecessors=predecessors(last, query),
        )

    def has_announced(self, manifest: Manifest) -> None:
        """It is committed, by whatever means."""
        self._led = manifest.query
        self._fence_old_lanes(manifest)

    def confirm(self) -> None:
        """Return when the manifest is committed and the lanes of before are fenced; LaneError if
        one of them failed.
        """
        announcement, self._announcement = self._announcement, None
        if announcement is not None:
            self._led = announcement.result()
            self._make_ahead()

    def is_refused(self) -> bool:
        """Whether it is known by now that the manifest cannot be committed; `confirm` tells why."""
        return self._announcement is not None and self._announcement.has_failed()

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
        with closed_if_raised(transaction):
            found = last_word(settings, MANIFEST_PARTITION)
            last = found.entry
            if isinstance(last, Token):
                raise SinkError(f"ledger {settings.ledger_topic} has a token among its manifests")
        if isinstance(last, Ruling):
            return Lead(transaction=transaction, last=last.manifest, end=found.end, ruling=last)
        return Lead(transaction=transaction, last=last, end=found.end)

    @contextmanager
    def _asked_anew_if_refused(self, lead: Lead) -> Iterator[None]:
        """A broker that was cut off, and answers still, tells an old manifest: nobody is to be sent
        away, or told to use another sink, on the word of that one.
        """
        try:
            yield
        except OwnershipError as refusal:
            if last_word(self._settings, MANIFEST_PARTITION, new=True).end == lead.end:
                raise
            raise LaneError(
                f"ledger {self._settings.ledger_topic}: it was read from a broker that did not lead"
                f" it any more, and said: {refusal}"
            ) from refusal

    def _tokens(self, last: Manifest | None) -> list[Token]:
        """Of every lane this sink ever had."""
        lanes = max(self._settings.lanes, last.lanes_ever if last else 0)
        found = [last_entry(self._settings, lane_partition(lane)) for lane in range(lanes)]
        return [entry for entry in found if isinstance(entry, Token)]

    def _make_ahead(self) -> None:
        self._ahead = Ahead(self._lead, lambda unused: unused.transaction.close())

    def _fence_old_lanes(self, manifest: Manifest) -> None:
        """Once: no one of before may still write on a lane that this run does not use.

        After the manifest is committed: a task of before has opened its lane by then, and is
        fenced, or opens it later, finds the manifest, and gives up.
        """
        if not self._is_first:
            return
        for lane in range(manifest.lanes, manifest.lanes_ever):
            lane_id = self._settings.lane_transactional_id(lane)
            open_transaction(self._settings.producer(lane_id), fast=self._settings.fast).close()
        self._is_first = False

    def _commit(self, lead: Lead, record: Record) -> None:
        """This lead is used up."""
        try:
            lead.transaction.begin()
            lead.transaction.produce_record(record)
            commit_entry(lead.transaction, record, self._settings, lead.end)
        finally:
            lead.transaction.close()

    def _record(self, entry: Manifest | Ruling) -> Record:
        return Record(
            topic=self._settings.ledger_topic,
            partition=MANIFEST_PARTITION,
            key=ruling_key(entry) if isinstance(entry, Ruling) else MANIFEST_KEY,
            value=entry.to_bytes(),
        )


def _new_name() -> str:
    return uuid.uuid4().hex
