"""Who owns the sink: the last manifest against this query's id and batch. Pure."""

from collections.abc import Iterable

from onceproof.sink.errors import OwnershipError
from onceproof.sink.ledger.entries import Manifest, Token
from onceproof.sink.settings import Settings

PREDECESSORS_MAX = 100
_EVERY_BATCH = (
    "Every batch must reach the sink, the empty ones too: nothing like `if batch.isEmpty(): return`"
    " may stand before it"
)


def judge_ownership(
    last: Manifest | None, query: str, batch_id: int, settings: Settings, *, has_led: bool = False
) -> None:
    """Return if this query may go on with this batch; else say what is wrong and the way out.

    `has_led`: it has, since it was started. Who takes over then does so from this very query, which
    must not take the sink back: two of them would never end. Nor may it in a later life: the ledger
    does not tell any more what of its last batch is written.
    """
    who = f"sink {settings.sink_id}"
    if last is None:
        if batch_id > 0 and not settings.adopt:
            raise OwnershipError(
                f"{who}: the checkpoint is at batch {batch_id} but the ledger"
                f" {settings.ledger_topic} is empty: a checkpoint without its ledger."
                " Restore the ledger, or pass adopt=True if batches so far were written elsewhere."
                f" {_EVERY_BATCH}"
            )
        return
    if last.query != query:
        if has_led:
            raise OwnershipError(f"{who}: query {last.query} has taken it over from this one")
        _refuse_a_return(who, last, query, batch_id)
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
            " batches between were not written by this sink. Restore the ledger, or pass"
            f" adopt=True if they were written elsewhere. {_EVERY_BATCH}"
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
    """The queries whose tokens a manifest of this query may find on its lanes. None is forgotten:
    a ledger with too many of them is not taken over any more.
    """
    if last is None:
        return ()
    return last.predecessors if last.query == query else (*last.predecessors, last.query)


def _refuse_a_return(who: str, last: Manifest, query: str, batch_id: int) -> None:
    if query in last.predecessors:
        raise OwnershipError(
            f"{who}: it was taken over from this query ({query}, now at batch {batch_id}), and is"
            f" query {last.query}'s since; what of this query's last batch is written, the ledger"
            " does not tell any more. Use another sink_id, with adopt=True, whatever takeover says"
        )
    if len(last.predecessors) >= PREDECESSORS_MAX:
        raise OwnershipError(
            f"{who}: it was taken over {len(last.predecessors)} times, and its ledger remembers no"
            " more than that. Use another sink_id"
        )


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
