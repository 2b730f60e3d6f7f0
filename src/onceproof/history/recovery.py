"""How long a fault kept the suspect from its work: until its position went on. Pure.

    position  100 ─ 100 ─ 110 ───────────────────── 120
                    ▲ fault  └ where it stood        ▲ it went on: this long after the fault

A sample from before the fault may be older than what the victim did last: where it stood is told by
the first one after it.
"""

from collections.abc import Sequence

from onceproof.history.event import Event


def recovery_s(events: Sequence[Event]) -> float | None:
    """Of the first fault that applied; None: it did not go on, or there was none."""
    for place, event in enumerate(events):
        if _has_applied(event):
            return _went_on(events[place:], event.at_s)
    return None


def recoveries_s(events: Sequence[Event]) -> list[float | None]:
    """One for each fault that was tried, in their order; None also where it did not apply."""
    return [
        _went_on(events[place:], event.at_s) if _has_applied(event) else None
        for place, event in enumerate(events)
        if event.kind == "fault"
    ]


def _has_applied(event: Event) -> bool:
    return event.kind == "fault" and event.detail["applied"] == "true"


def _went_on(later: Sequence[Event], struck_s: float) -> float | None:
    """None, too, where nothing was left to do: whoever has no work cannot go on with it."""
    samples = [event for event in later if event.kind == "progress"]
    if not samples or samples[0].detail.get("remaining") == "0":
        return None
    stood = int(samples[0].detail["position"])
    for sample in samples:
        if int(sample.detail["position"]) > stood:
            return sample.at_s - struck_s
    return None
