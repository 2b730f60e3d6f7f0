"""How brokers throttled the suspect, in words: when, how much, and how far behind it was then.

A client that is told to wait so many milliseconds sends nothing to that broker meanwhile.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from onceproof.history.event import Event
from onceproof.history.produced import Produced

ROW_S = 5.0


def told_by_time(produced: Produced, events: Sequence[Event]) -> Iterator[str]:
    """A line for each ROW_S in which somebody was throttled, with the lag at its end."""
    answers = Counter(int(at_s // ROW_S) for at_s in produced.answered_s)
    waits: dict[int, list[int]] = {}
    for answer in produced.throttled:
        waits.setdefault(int(answer.at_s // ROW_S), []).append(answer.throttle_ms)
    for place, told in sorted(waits.items()):
        until_s = (place + 1) * ROW_S
        yield (
            f"{place * ROW_S:.0f} s to {until_s:.0f} s: {len(told)} of {answers[place]} answers,"
            f" {sum(told) / len(told):,.0f} ms on average, {max(told):,} ms at most"
            f"{_lag_at(events, until_s)}"
        )


def _lag_at(events: Sequence[Event], at_s: float) -> str:
    samples = (event for event in events if event.kind == "progress" and event.at_s <= at_s)
    lags = [lag for event in samples if (lag := lag_of(event.detail)) is not None]
    return f"; lag {lags[-1]:,}" if lags else ""


def lag_of(sample: Mapping[str, str]) -> int | None:
    """Input records not processed yet, by a `progress` event; None: it does not say."""
    fed, position = sample.get("input", ""), sample.get("position", "")
    return int(fed) - int(position) if fed.isdecimal() and position.isdecimal() else None
