"""Who owns the sink: the last manifest against this query's id and batch. Pure."""

from onceproof.sink.errors import OwnershipError
from onceproof.sink.ledger.entries import Manifest
from onceproof.sink.settings import Settings


def judge_ownership(last: Manifest | None, query: str, batch_id: int, settings: Settings) -> None:
    """Return if this query may go on with this batch; else say what is wrong and the way out."""
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
        if not settings.takeover:
            raise OwnershipError(
                f"{who}: the ledger belongs to query {last.query} (batch {last.batch}), this is"
                f" query {query}: another checkpoint. Use its checkpoint, another sink_id, or pass"
                " takeover=True if that query is gone for good"
            )
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
