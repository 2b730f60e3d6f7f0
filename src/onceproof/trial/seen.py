"""What a scenario is about must have been seen: without it, nothing was put to the test. Pure."""

from collections.abc import Iterable, Sequence

from onceproof.history.event import Event


def unseen(wanted: Iterable[str], events: Sequence[Event]) -> list[str]:
    """A doubt for each text that stands in no note of the history."""
    notes = [event.detail.get("text", "") for event in events if event.kind == "note"]
    return [
        f"what this scenario is about was not seen: no note says {each!r}"
        for each in wanted
        if not any(each in note for note in notes)
    ]
