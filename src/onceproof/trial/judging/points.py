"""What a scenario expects besides its verdict, point by point, each with its evidence. Pure.

    events, Produce frames, findings ──▶ one Point for each name in the scenario's `points`

Points never make a verdict: they say how a run that held, held, and how one that broke, broke.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.errors import unknown_name
from onceproof.history.event import Event
from onceproof.history.finding import Finding
from onceproof.history.point import Point

if TYPE_CHECKING:
    from onceproof.history.produced import Produced

FENCED = {47: "INVALID_PRODUCER_EPOCH", 90: "PRODUCER_FENCED"}
QUOTA_WINDOW_S = 11.0  # brokers average over so long (quota.window.num): a burst may be as much
QUOTA_SHARES = (0.6, 1.2)
LATE_S = 10.0  # samples, and the feed itself, are a little late in the best of cases
DATA_ANOMALIES = ("lost", "duplicated", "diverged", "wrong", "invented", "leaked", "regressed")
LINE_TOLD_MAX = 200


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What points are judged by."""

    events: Sequence[Event]
    produced: "Produced"
    findings: Sequence[Finding]
    byte_rate: int | None  # the quota
    transaction_timeout_ms: int
    stuck_after_s: float
    feed_s: float  # how long the feed was meant to take


Told = tuple[bool | None, str]


def _throttled(seen: Seen) -> Told:
    answers, throttled = seen.produced.answered_s, seen.produced.throttled
    if not answers:
        return None, "no answer to a Produce was recorded"
    if not throttled:
        return False, f"none of {len(answers):,} answers to Produce said so"
    waits = [answer.throttle_ms for answer in throttled]
    told = (
        f"{len(waits):,} of {len(answers):,} answers to Produce,"
        f" {sum(waits) / len(waits):,.0f} ms on average, {max(waits):,} ms at most"
    )
    return max(waits) < seen.transaction_timeout_ms, told


def _fed(seen: Seen) -> Told:
    began = next((each.at_s for each in seen.events if each.subject == "feed"), None)
    samples = [each for each in seen.events if each.kind == "progress"]
    if began is None or not samples:
        return None, "no sample was taken"
    fed = max(int(each.detail["input"]) for each in samples)
    took_s = next(each.at_s for each in samples if int(each.detail["input"]) == fed) - began
    return took_s <= seen.feed_s + LATE_S, f"{fed:,} records were in the input after {took_s:.1f} s"


def _goes_on(seen: Seen) -> Told:
    """A pause is a time without progress while records are left."""
    longest_s, since_s, highest, lag, lag_most = 0.0, 0.0, -1, 0, 0
    for each in (each for each in seen.events if each.kind == "progress"):
        if lag > 0:
            longest_s = max(longest_s, each.at_s - since_s)
        position = int(each.detail["position"])
        lag = int(each.detail["input"]) - position
        if position > highest or lag == 0:
            highest, since_s = max(highest, position), each.at_s
        lag_most = max(lag_most, lag)
    if highest < 0:
        return None, "no sample was taken"
    told = f"the longest pause was {longest_s:.1f} s; the lag was {lag_most:,} records at most"
    return longest_s < seen.stuck_after_s, told


def _not_fenced(seen: Seen) -> Told:
    refused = [each for each in seen.produced.marked if each.error_code in FENCED]
    if refused:
        first = refused[0]
        return False, f"{FENCED[first.error_code]} in answer to a Produce at {first.at_s:.1f} s"
    return _unsaid("InvalidProducerEpochException", "ProducerFencedException")(seen)


def _unsaid(*words: str) -> Callable[[Seen], Told]:
    """That no instance's log has any of these."""

    def judge(seen: Seen) -> Told:
        for each in (each for each in seen.events if each.kind == "note"):
            text = each.detail.get("text", "")
            said = next((text[text.index(word) :] for word in words if word in text), None)
            if said is not None:
                return False, f"at {each.at_s:.1f} s {each.subject} logged: {said[:LINE_TOLD_MAX]}"
        named = (repr(word) if " " in word else word for word in words)
        return True, f"no {' and no '.join(named)} in any instance's log"

    return judge


def _near_quota(seen: Seen) -> Told:
    """Over all the time in which there was something to write."""
    produced = seen.produced
    if seen.byte_rate is None or not produced.answered_s:
        return None, "there is no quota, or no Produce was recorded"
    behind = (
        each.at_s
        for each in seen.events
        if each.kind == "progress" and each.detail["input"] != each.detail["position"]
    )
    busy_s = max(produced.to_s, *behind) - produced.from_s
    allowed = seen.byte_rate * (busy_s + QUOTA_WINDOW_S)
    least, most = QUOTA_SHARES
    told = (
        f"{produced.bytes_asked:,} bytes in Produce requests while there was work, {busy_s:.0f} s;"
        f" {seen.byte_rate:,} a second, averaged over {QUOTA_WINDOW_S:.0f} s, allow {allowed:,.0f}"
    )
    return least <= produced.bytes_asked / allowed <= most, told


def _data_is_whole(seen: Seen) -> Told:
    found = [each for each in seen.findings if each.anomaly in DATA_ANOMALIES]
    told = ", ".join(f"{each.anomaly} {each.count}" for each in found)
    return not found, told or "no finding says so"


# Name → what it says, and how that is told.
POINTS: Mapping[str, tuple[str, Callable[[Seen], Told]]] = {
    "throttled": (
        "brokers throttle the suspect's producer, for less than its transaction may last",
        _throttled,
    ),
    "feed_unhindered": ("whoever writes the input is not throttled", _fed),
    "goes_on": ("records are processed all the time, if slowly", _goes_on),
    "near_quota": ("about as much is written as the quota allows", _near_quota),
    "not_fenced": ("no producer is fenced", _not_fenced),
    "no_task_corrupted": ("no task is corrupted", _unsaid("TaskCorruptedException")),
    "no_timeout": ("no request times out", _unsaid("TimeoutException", "due to request timeout")),
    "data_is_whole": ("nothing is lost, repeated or changed", _data_is_whole),
}


def check_points(names: Sequence[str]) -> None:
    for name in names:
        if name not in POINTS:
            raise unknown_name("point", name, POINTS)


def judge_points(names: Sequence[str], seen: Seen) -> tuple[Point, ...]:
    points = []
    for name in names:
        says, judge = POINTS[name]
        met, evidence = judge(seen)
        points.append(Point(name=name, says=says, met=met, evidence=evidence))
    return tuple(points)
