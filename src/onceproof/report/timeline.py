"""A run as lanes, marks and curves over time: what the drawing needs, free of any drawing.

    phase      |start |feed        |fault                 |drain  |judge|
    iteration         |1            |2           |3       |
    instance 0  ████████▒▒▒████████████████████████████████
    broker 2    ███████████████████▒▒▒▒▒██████████████████        ▒ = a fault in force
    faults              1          2     3

The faults of the verdict are the truth about faults; the events say everything else.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from onceproof.history.event import Event
from onceproof.history.fault_record import FaultRecord
from onceproof.history.produced import Answer
from onceproof.history.verdict import TrialResult
from onceproof.report.throttling import lag_of

THROTTLED = "throttled"
LANES_MAX = 24
CURVE_POINTS_MAX = 400
CURVES = {
    "input": "input records fed",
    "position": "input records processed",
    "lag": "lag: input records left",
    "output": "output log (offsets)",
}
PROCESS_NAME = re.compile(r"(instance|broker) \d+")
# What a fault in force makes of its target; any other action merely disturbs it.
STATE_OF_ACTION = {
    "kill": "down",
    "stop": "down",
    "restart": "down",
    "failover": "down",
    "pause": "paused",
    "hold_open": "paused",
}


@dataclass(frozen=True, kw_only=True)
class Span:
    from_s: float
    to_s: float
    state: str  # phase, iteration, up, down, paused, disturbed, throttled
    label: str = ""


@dataclass(frozen=True, kw_only=True)
class Lane:
    name: str
    spans: tuple[Span, ...]


@dataclass(frozen=True, kw_only=True)
class Mark:
    """One fault, with the number it has in the table of faults."""

    number: int
    at_s: float
    lane: str
    label: str
    applied: bool


@dataclass(frozen=True, kw_only=True)
class Curve:
    name: str
    label: str
    points: tuple[tuple[float, int], ...]


@dataclass(frozen=True, kw_only=True)
class Timeline:
    end_s: float
    lanes: tuple[Lane, ...]
    marks: tuple[Mark, ...]
    curves: tuple[Curve, ...]


def build_timeline(
    result: TrialResult, events: Sequence[Event], throttled: Sequence[Answer] = ()
) -> Timeline:
    """`throttled`: answers that made an instance wait."""
    end_s = max([result.duration_s, 1.0, *(event.at_s for event in events)])
    lanes = [
        _consecutive("phase", events, end_s),
        _consecutive("iteration", events, end_s),
        *(_target_lane(name, result, events, end_s) for name in _targets(result, events)),
        *_throttled_lanes(throttled),
    ]
    return Timeline(
        end_s=end_s,
        lanes=tuple(lane for lane in lanes if lane.spans)[:LANES_MAX],
        marks=tuple(_mark(number, fault) for number, fault in enumerate(result.faults, start=1)),
        curves=tuple(_curves(events)),
    )


def lane_of(target: str) -> str:
    """ "broker 2 (group coordinator)" is drawn in the lane "broker 2"."""
    process = PROCESS_NAME.match(target)
    return process.group() if process else target


def _mark(number: int, fault: FaultRecord) -> Mark:
    return Mark(
        number=number,
        at_s=fault.at_s,
        lane=lane_of(fault.target),
        label=f"{fault.action} {fault.target}",
        applied=fault.applied,
    )


def _consecutive(kind: str, events: Iterable[Event], end_s: float) -> Lane:
    """Each event of the kind begins a span that lasts until the next one, or until the end."""
    begins = [event for event in events if event.kind == kind]
    ends = [*(event.at_s for event in begins[1:]), end_s]
    spans = (
        Span(from_s=event.at_s, to_s=to_s, state=kind, label=event.subject)
        for event, to_s in zip(begins, ends, strict=False)
    )
    return Lane(name=kind, spans=tuple(spans))


def _targets(result: TrialResult, events: Iterable[Event]) -> list[str]:
    seen = {event.subject for event in events if event.kind in ("started", "exited")}
    hit = {lane_of(fault.target) for fault in result.faults}
    return sorted(seen | hit, key=_natural_order)


def _natural_order(name: str) -> tuple[int, str, int]:
    """Instances, then brokers, then the rest; 10 after 9."""
    word, _, number = name.partition(" ")
    rank = {"instance": 0, "broker": 1}.get(word, 2)
    return rank, word if rank < 2 else name, int(number) if number.isdigit() else 0


def _target_lane(name: str, result: TrialResult, events: Sequence[Event], end_s: float) -> Lane:
    own = [event for event in events if event.subject == name]
    faults = [fault for fault in result.faults if lane_of(fault.target) == name and fault.applied]
    starts = [event.at_s for event in own if event.kind == "started"]
    spans = [*_life(own, end_s), *(_in_force(fault, starts, end_s) for fault in faults)]
    return Lane(name=name, spans=tuple(spans))


def _throttled_lanes(throttled: Sequence[Answer]) -> Iterator[Lane]:
    """One for each instance; waits that overlap are one, as long as the longest of them."""
    for instance in sorted({answer.instance for answer in throttled}):
        spans: list[Span] = []
        for answer in (each for each in throttled if each.instance == instance):
            wait = Span(
                from_s=answer.at_s,
                to_s=answer.at_s + answer.throttle_ms / 1000,
                state="throttled",
                label=f"{answer.throttle_ms} ms",
            )
            last = spans[-1] if spans else None
            if last is None or wait.from_s > last.to_s:
                spans.append(wait)
            elif wait.to_s > last.to_s:
                spans[-1] = replace(wait, from_s=last.from_s)
        yield Lane(name=f"{THROTTLED} {instance}", spans=tuple(spans))


def _life(own: Sequence[Event], end_s: float) -> list[Span]:
    """Up from each start to the exit after it; down where it died by itself.

    A target that reports neither is taken to be up all along: nobody watches its process.
    """
    lives = [event for event in own if event.kind in ("started", "exited")]
    if not lives:
        return [Span(from_s=0.0, to_s=end_s, state="up")]
    spans = []
    for event, to_s in zip(lives, [*(event.at_s for event in lives[1:]), end_s], strict=True):
        if event.kind == "started":
            spans.append(Span(from_s=event.at_s, to_s=to_s, state="up"))
        elif event.detail.get("asked") != "true":
            spans.append(Span(from_s=event.at_s, to_s=to_s, state="down", label="died"))
    return spans


def _in_force(fault: FaultRecord, starts: Iterable[float], end_s: float) -> Span:
    """Until it healed; where nobody said so, until the target's next start, or the end."""
    next_start = min((at_s for at_s in starts if at_s > fault.at_s), default=end_s)
    return Span(
        from_s=fault.at_s,
        to_s=next_start if fault.healed_at_s is None else fault.healed_at_s,
        state=STATE_OF_ACTION.get(fault.action, "disturbed"),
        label=fault.action,
    )


def _curves(events: Iterable[Event]) -> Iterable[Curve]:
    samples = [event for event in events if event.kind == "progress"]
    for name, label in CURVES.items():
        points = [
            (event.at_s, count)
            for event in samples
            if (count := _count(event.detail, name)) is not None
        ]
        if points:
            yield Curve(name=name, label=label, points=_thinned(points))


def _count(detail: Mapping[str, str], name: str) -> int | None:
    if name == "lag":
        return lag_of(detail)
    return int(detail[name]) if detail.get(name, "").isdecimal() else None


def _thinned(points: Sequence[tuple[float, int]]) -> tuple[tuple[float, int], ...]:
    """At most CURVE_POINTS_MAX of them, evenly taken, the last one always."""
    step = -(-len(points) // CURVE_POINTS_MAX)
    taken = list(points[::step])
    if taken[-1] != points[-1]:
        taken.append(points[-1])
    return tuple(taken)
