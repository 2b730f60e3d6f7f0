"""What a scenario is about must have been seen: without it, nothing was put to the test. Pure."""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from onceproof.errors import UsageError
from onceproof.history.event import Event

if TYPE_CHECKING:
    from onceproof.history.produced import Produced


def unseen(wanted: Iterable[str], events: Sequence[Event]) -> list[str]:
    """A doubt for each pattern that is in nobody's story.

    A story is what one instance or broker noted, and what was done to it, a line each: a pattern
    may ask for lines in their order (`fault: kill.*are corrupted`), and for the same name in both.
    """
    stories: dict[str, list[str]] = {}
    for event in events:
        if (line := _line(event)) is not None:
            stories.setdefault(event.subject, []).append(line)
    return [
        f"what this scenario is about was not seen: no note says {each!r}"
        for each in wanted
        if not any(re.search(each, "\n".join(story), re.DOTALL) for story in stories.values())
    ]


def check_patterns(wanted: Iterable[str], of: str) -> None:
    for each in wanted:
        try:
            re.compile(each)
        except re.error as error:
            raise UsageError(f"{of}: `seen` takes patterns; got {each!r}: {error}") from error


def _line(event: Event) -> str | None:
    if event.kind == "note":
        return event.detail.get("text", "")
    if event.kind == "fault" and event.detail.get("applied") == "true":
        return f"fault: {event.detail.get('action')}"
    return None


def unthrottled(produced: "Produced", byte_rate: int) -> list[str]:
    """A doubt where nobody met the quota: too few records make no burst that goes beyond it."""
    if produced.throttled:
        return []
    return [
        f"what this scenario is about was not seen: with a quota of {byte_rate:,} bytes a second"
        f" none of {len(produced.answered_s):,} answers to Produce was throttled; ask for more"
        " --records"
    ]
