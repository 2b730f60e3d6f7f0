"""One lane of one batch: fence, then read the own token, then decide. On executors or the driver.

no token of b, or an older one   → rows and the token of b in one transaction
token of b                       → already committed: the replayed rows must have the same digest
token above b, or another query  → somebody else owns this sink: refuse, unless the manifest says
                                   that it was taken over from that query

The fence may be long before the write: whoever comes in between fences us in turn, and our commit
fails. So a token that was read after our fence stays the last one until we commit or are refused.
"""

import time
from contextlib import closing
from dataclasses import dataclass

from onceproof.sink.budget import Budget, pause
from onceproof.sink.errors import LaneError, OutlastedError, RefusedError
from onceproof.sink.ledger.entries import (
    MANIFEST_PARTITION,
    Entry,
    Manifest,
    Ruling,
    Token,
    lane_key,
    lane_partition,
)
from onceproof.sink.ledger.reader import SILENCE_S_MAX, last_word
from onceproof.sink.producing.transaction import (
    Record,
    Transaction,
    closed_if_raised,
    open_transaction,
)
from onceproof.sink.reports import LaneReport, LaneState
from onceproof.sink.rows import LaneRows
from onceproof.sink.settings import Settings
from onceproof.sink.work import Work
from onceproof.sink.writing import write_rows

MANIFEST_S_MAX = 30.0
MANIFEST_PAUSE_S = 0.02
TWIN_PAUSE_S = 0.5


@dataclass(frozen=True, kw_only=True)
class OpenLane:
    """A lane that is ours: fenced, and its last token read after the fence."""

    lane: int
    transaction: Transaction
    entry: Entry | None
    end: int  # of its partition of the ledger, when the entry was read
    fence_ms: float
    read_ms: float


def open_lane(settings: Settings, lane: int) -> OpenLane:
    started = time.monotonic()
    transaction = open_transaction(
        settings.producer(settings.lane_transactional_id(lane)), fast=settings.fast
    )
    fenced = time.monotonic()
    with closed_if_raised(transaction):
        found = last_word(settings, lane_partition(lane))
    read = time.monotonic()
    return OpenLane(
        lane=lane,
        transaction=transaction,
        entry=found.entry,
        end=found.end,
        fence_ms=(fenced - started) * 1000,
        read_ms=(read - fenced) * 1000,
    )


def wait_for_manifest(work: Work) -> None:
    """Runs on executors. The driver commits the manifest of this batch meanwhile."""
    budget, is_asked_anew = Budget(MANIFEST_S_MAX), False
    while not budget.spent():
        # Once: the new client is the one that is used from then on.
        new = not is_asked_anew and budget.used_s() > SILENCE_S_MAX
        if _is_announced(work, new=new):
            return
        is_asked_anew |= new
        pause(MANIFEST_PAUSE_S)
    raise LaneError(f"batch {work.batch}: its manifest is not in the ledger; the driver lost it")


def wait_for_token(work: Work, lane: int, seconds: float) -> Token | None:
    """Runs on executors that were fenced. The token of this batch, if a twin has committed it.

    Looked for at least once. LaneError if another driver leads: what its lanes are, it knows.
    """
    budget = Budget(seconds)
    while _is_announced(work):
        entry = last_word(work.settings, lane_partition(lane)).entry
        if isinstance(entry, Token) and decide(entry, work) is LaneState.ALREADY:
            return entry
        if budget.spent():
            break
        pause(TWIN_PAUSE_S)
    return None


def require_manifest(work: Work) -> None:
    """Runs on the driver, which has committed it. LaneError if another one has led since.

    Asked after the lanes are fenced: whoever announces later fences them in turn.
    """
    if not _is_announced(work):
        raise LaneError(f"batch {work.batch}: its manifest is not the last word of the ledger")


def _is_announced(work: Work, *, new: bool = False) -> bool:
    entry = last_word(work.settings, MANIFEST_PARTITION, new=new).entry
    manifest = entry.manifest if isinstance(entry, Ruling) else entry
    return isinstance(manifest, Manifest) and is_ours(manifest, work)


def is_ours(manifest: Manifest, work: Work) -> bool:
    """LaneError if it says that another driver has taken this batch up, or a later one. Pure."""
    if manifest.query == work.query:
        if manifest.batch < work.batch:
            return False
        if manifest.batch == work.batch and manifest.announcement == work.announcement:
            return True
    elif manifest.query in work.predecessors:
        return False  # ours, with which we take over, is still being committed
    raise LaneError(
        f"batch {work.batch}: another driver leads this sink now; the ledger has"
        f" {manifest.to_bytes().decode()}"
    )


def carry_out(opened: OpenLane, work: Work, rows: LaneRows, partition: int) -> LaneReport:
    """Decide, and write if it is missing; whatever happens, all rows are read."""
    state = decide(opened.entry, work)
    detail = "no token" if opened.entry is None else opened.entry.to_bytes().decode()
    write_ms = commit_ms = 0.0
    with closing(opened.transaction):
        try:
            if state is None:
                write_ms, commit_ms = _write(opened, work, rows)
                state = LaneState.COMMITTED
        except RefusedError as refusal:
            state, detail = LaneState.REFUSED, str(refusal)
        except OutlastedError as late:
            # Told, not raised: Spark would try the task again, and again as slowly.
            state, detail = LaneState.OUTLASTED, str(late)
        # A task that stops reading a stateful iterator early leaves its state uncommitted.
        rows.read_to_the_end()
    if state is LaneState.ALREADY and work.verify and not agrees(opened.entry, rows):
        state = LaneState.DIFFERS
    return LaneReport(
        partition=partition,
        lane=opened.lane,
        state=state.value,
        rows=rows.digest.rows,
        digest=rows.digest.hex(),
        size=rows.size,
        detail=detail,
        fence_ms=opened.fence_ms,
        read_ms=opened.read_ms,
        write_ms=write_ms,
        commit_ms=commit_ms,
    )


def decide(entry: Entry | None, work: Work) -> LaneState | None:
    """What the last token says about this batch; None: it is to be written. Pure."""
    if entry is None:
        return None
    if not isinstance(entry, Token):
        return LaneState.FOREIGN
    if entry.query != work.query:
        return None if entry.query in work.predecessors else LaneState.FOREIGN
    if entry.batch > work.batch:
        return LaneState.FOREIGN
    return LaneState.ALREADY if entry.batch == work.batch else None


def agrees(entry: Entry | None, rows: LaneRows) -> bool:
    digest = rows.digest
    return isinstance(entry, Token) and (entry.rows, entry.digest) == (digest.rows, digest.hex())


def _write(opened: OpenLane, work: Work, rows: LaneRows) -> tuple[float, float]:
    """Rows and token in one transaction; the milliseconds of writing and of committing."""
    place = f"batch {work.batch}, lane {opened.lane}"

    def token() -> Record:
        return _token(opened.lane, work, rows)

    return write_rows(opened.transaction, rows, token, work.settings, place, opened.end)


def _token(lane: int, work: Work, rows: LaneRows) -> Record:
    token = Token(
        query=work.query,
        batch=work.batch,
        lane=lane,
        rows=rows.digest.rows,
        digest=rows.digest.hex(),
    )
    return Record(
        topic=work.settings.ledger_topic,
        partition=lane_partition(lane),
        key=lane_key(lane),
        value=token.to_bytes(),
    )
