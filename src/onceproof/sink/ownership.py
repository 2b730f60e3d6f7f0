"""Who owns the sink: the last manifest against this query's id and batch. Pure."""

from collections.abc import Iterable

from onceproof.sink.errors import OwnershipError
from onceproof.sink.ledger.entries import Manifest, Token
from onceproof.sink.settings import Settings

PREDECESSORS_MAX = 100


def judge_ownership(
    last: Manifest | None, query: str, batch_id: int, settings: Settings, *, has_led: bool = False
) -> None:
    """Return if this query may go on with this batch; else say what is wrong and the way out.

    `has_led`: it has, since it was started. Who takes over then does so from this very query, which
    must not take the sink back: two of them would never end.
    """
    who = f"sink {settings.sink_id}"
    if last is None:
        if batch_id > 0 and not settings.adopt:
            raise OwnershipError(
                f"{who}: the checkpoint is at batch {batch_id} but the ledger"
                f" {settings.ledger_topic} is empty: a checkpoint without its ledger."
                " Restore the ledger, or pass adopt=True if batches so far were written elsewhere"
            )
        return
    if last.query != query:
        if has_led:
            raise OwnershipError(f"{who}: query {last.query} has taken it over from this one")
        if not settings.takeover:
            raise _of_another(who, last, query, batch_id)
        return
    if batch_id < last.batch:
        raise OwnershipError(
            f"{who}: the checkpoint is at batch {batch_id}, the ledger at {last.batch}: the"
            " checkpoint was rolled back. Restore the newer checkpoint, or use another sink_id"
        )
    if batch_id > last.batch + 1 and not settings.adopt:
        raise OwnershipError(
            f"{who}: the checkpoint is at batch {batch_id}, the ledger only at {last.batch}:"
            " batches between were not written by this sink. Restore the ledger, or pass adopt=True"
        )


def refuse_tokens_ahead(
    tokens: Iterable[Token], last: Manifest | None, query: str, settings: Settings
) -> None:
    """A manifest stands before any token of its batch: a token beyond it means that it was lost."""
    own = [token for token in tokens if token.query == query]
    if not own or (last is not None and last.query != query):  # judged by `judge_ownership`
        return
    highest = max(own, key=lambda token: token.batch)
    if last is None or highest.batch > last.batch:
        known = "none" if last is None else f"of batch {last.batch}"
        raise OwnershipError(
            f"sink {settings.sink_id}: lane {highest.lane} is at batch {highest.batch} of this"
            f" query, but its last manifest is {known}: the ledger {settings.ledger_topic} has lost"
            " entries. Restore it, or use another sink_id"
        )


def predecessors(last: Manifest | None, query: str) -> tuple[str, ...]:
    """The queries whose tokens a manifest of this query may find on its lanes."""
    if last is None:
        return ()
    known = [*last.predecessors, last.query]
    return tuple(each for each in known if each != query)[-PREDECESSORS_MAX:]


def _of_another(who: str, last: Manifest, query: str, batch_id: int) -> OwnershipError:
    what = (
        "a ledger without its checkpoint. Restore that checkpoint"
        if batch_id == 0
        else "two checkpoints with one sink. Stop one of them"
    )
    return OwnershipError(
        f"{who}: the ledger belongs to query {last.query} (batch {last.batch}), this is query"
        f" {query} (batch {batch_id}): {what}, use another sink_id, or pass takeover=True if that"
        " query is gone for good"
    )
