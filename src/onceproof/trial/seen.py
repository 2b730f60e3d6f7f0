"""What a scenario is about must have been seen: without it, nothing was put to the test. Pure."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from onceproof.history.event import Event

if TYPE_CHECKING:
    from onceproof.report.throttling import Produced


def unseen(wanted: Iterable[str], events: Sequence[Event]) -> list[str]:
    """A doubt for each text that stands in no note of the history."""
    notes = [event.detail.get("text", "") for event in events if event.kind == "note"]
    return [
        f"what this scenario is about was not seen: no note says {each!r}"
        for each in wanted
        if not any(each in note for note in notes)
    ]


def unthrottled(produced: "Produced", byte_rate: int) -> list[str]:
    """A doubt where nobody met the quota: too few records make no burst that goes beyond it."""
    if produced.throttled:
        return []
    return [
        f"what this scenario is about was not seen: with a quota of {byte_rate:,} bytes a second"
        f" none of {len(produced.answered_s):,} answers to Produce was throttled; ask for more"
        " --records"
    ]
