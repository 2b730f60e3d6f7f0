"""How long a fault kept the suspect from its work: until its position went on. Pure.

    position  100 ───── 110 ───────────────────── 120
                   ▲ fault └ where it stood         ▲ it went on: this long after the fault

What the victim did last may have come after the last sample before the fault: where it stood is
told by one right after it. Where brokers are gone there is none; then the last one before counts.
"""

from collections.abc import Sequence

from onceproof.history.event import Event

RIGHT_AFTER_S = 1.0


def recovery_s(events: Sequence[Event]) -> float | None:
    """Of the first fault that applied; None: it did not go on, or there was none."""
    return next((_went_on(events, each) for each in events if _has_applied(each)), None)


def recoveries_s(events: Sequence[Event]) -> list[float | None]:
    """One for each fault that was tried, in their order; None also where it did not apply."""
    faults = (event for event in events if event.kind == "fault")
    return [_went_on(events, fault) if _has_applied(fault) else None for fault in faults]


def _has_applied(event: Event) -> bool:
    return event.kind == "fault" and event.detail["applied"] == "true"


def _went_on(events: Sequence[Event], fault: Event) -> float | None:
    """None, too, where nothing was left to do: whoever has no work cannot go on with it."""
    samples = [event for event in events if event.kind == "progress"]
    before = [sample for sample in samples if sample.at_s < fault.at_s]
    after = [sample for sample in samples if sample.at_s >= fault.at_s]
    right_after = [sample for sample in after if sample.at_s < fault.at_s + RIGHT_AFTER_S]
    stood = next(iter([*right_after[:1], *before[-1:], *after[:1]]), None)
    if stood is None or stood.detail.get("remaining") == "0":
        return None
    went_on = (each for each in after if _position(each) > _position(stood))
    first = next(went_on, None)
    if first is None or any(_is_death(each, fault.at_s, first.at_s) for each in events):
        return None
    return first.at_s - fault.at_s


def _position(sample: Event) -> int:
    return int(sample.detail["position"])


def _is_death(event: Event, from_s: float, to_s: float) -> bool:
    """The dead do not go on: brokers may still end what one had begun."""
    ended = event.kind == "exited" and event.detail.get("asked") == "false"
    return ended and from_s <= event.at_s <= to_s
