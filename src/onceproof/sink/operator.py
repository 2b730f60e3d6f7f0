"""What an operator can do about a sink that stopped: look, and rule on its last batch.

A ruling is committed to the ledger, beside the manifests, with who, when and why. It holds for the
batch it names alone, and stays there as a trace: its key is its own. Tasks of a driver of before
must not take it for their manifest: it has a new name, and all lanes are fenced.

inspect   fences nobody, changes nothing
accept    what is committed of the batch stays as it is; its missing lanes are written from the
          replayed rows, without comparing
skip      nothing more of the batch is written; rows of its missing lanes are lost on purpose
"""

import getpass
import socket
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TypeVar

from onceproof.sink.errors import LaneError, SinkError
from onceproof.sink.ledger.entries import (
    MANIFEST_PARTITION,
    Decision,
    Manifest,
    Ruling,
    Token,
    lane_partition,
    ruling_key,
)
from onceproof.sink.ledger.reader import borrowed_reader
from onceproof.sink.producing.transaction import Record, open_transaction
from onceproof.sink.settings import Settings
from onceproof.sink.writing import commit_entry

ATTEMPTS_MAX = 5
_Done = TypeVar("_Done")


@dataclass(frozen=True, kw_only=True)
class SinkState:
    """What the ledger says. `tokens`: the last one of each lane of the last manifest."""

    manifest: Manifest | None
    ruling: Ruling | None
    tokens: dict[int, Token | None]
    end: int  # of the manifests' partition

    def missing(self) -> list[int]:
        """Lanes of the last batch that are not committed."""
        if self.manifest is None:
            return []
        of = self.manifest
        return [
            lane
            for lane, token in self.tokens.items()
            if token is None or (token.query, token.batch) != (of.query, of.batch)
        ]


def inspect(settings: Settings) -> SinkState:
    with borrowed_reader(settings) as reader:
        found = reader.last_word(MANIFEST_PARTITION)
        last = found.entry
        ruling = last if isinstance(last, Ruling) else None
        manifest = ruling.manifest if ruling else last if isinstance(last, Manifest) else None
        tokens: dict[int, Token | None] = {}
        for lane in range(manifest.lanes if manifest else 0):
            entry = reader.last_word(lane_partition(lane)).entry
            tokens[lane] = entry if isinstance(entry, Token) else None
    return SinkState(manifest=manifest, ruling=ruling, tokens=tokens, end=found.end)


def rule(settings: Settings, *, batch: int, decision: Decision, reason: str) -> Ruling:
    """Fence the driver, then read, then commit the ruling; the query must not be running."""
    if not reason.strip():
        raise SinkError("a ruling needs a reason; it stays in the ledger")
    ruling = _repeated(
        lambda: _commit_ruling(settings, batch, decision, reason),
        f"the ruling was refused {ATTEMPTS_MAX} times; does the query still run?",
    )
    _repeated(
        lambda: _fence_lanes(settings, ruling.manifest),
        f"the ruling is recorded ({ruling.decision}, batch {batch}), but not all lanes could be"
        " fenced: the next start of the query does it. Make sure that nothing of the query runs",
    )
    return ruling


def _repeated(what: Callable[[], _Done], failed: str) -> _Done:
    last: LaneError | None = None
    for _ in range(ATTEMPTS_MAX):
        try:
            return what()
        except LaneError as again:
            last = again  # a query that is just ending may have fenced us
    raise LaneError(f"{failed}; last: {last}") from last


def _commit_ruling(settings: Settings, batch: int, decision: Decision, reason: str) -> Ruling:
    transaction = open_transaction(
        settings.producer(settings.driver_transactional_id()), fast=settings.fast
    )
    try:
        state = inspect(settings)
        _refuse_unless_last(state, batch, settings)
        assert state.manifest is not None
        ruling = Ruling(
            manifest=replace(state.manifest, announcement=uuid.uuid4().hex),
            decision=decision.value,
            by=f"{getpass.getuser()}@{socket.gethostname()}",
            at=datetime.now(UTC).isoformat(timespec="seconds"),
            reason=reason,
        )
        record = Record(
            topic=settings.ledger_topic,
            partition=MANIFEST_PARTITION,
            key=ruling_key(ruling),
            value=ruling.to_bytes(),
        )
        transaction.begin()
        transaction.produce_record(record)
        commit_entry(transaction, record, settings, state.end)
    finally:
        transaction.close()
    return ruling


def _fence_lanes(settings: Settings, manifest: Manifest) -> None:
    """From here on nobody who knew the manifest by its old name can write."""
    for lane in range(manifest.lanes):
        lane_id = settings.lane_transactional_id(lane)
        open_transaction(settings.producer(lane_id), fast=settings.fast).close()


def _refuse_unless_last(state: SinkState, batch: int, settings: Settings) -> None:
    if state.manifest is None:
        raise SinkError(f"ledger {settings.ledger_topic} has no manifest: nothing to rule on")
    if state.manifest.batch != batch:
        raise SinkError(
            f"batch {batch} is not the last one of sink {settings.sink_id}, which is"
            f" {state.manifest.batch}; only the last one can be ruled on"
        )
