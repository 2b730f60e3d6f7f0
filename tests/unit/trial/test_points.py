"""What the quota story expects, point by point: met, not met, and not to be told."""

from dataclasses import replace

import pytest

from onceproof.errors import UsageError
from onceproof.history.event import Event
from onceproof.history.finding import Finding
from onceproof.history.produced import Answer, Produced
from onceproof.trial.judging.points import POINTS, Seen, check_points, judge_points
from onceproof.trial.judging.seen import unthrottled


def progress(at_s: float, fed: int, position: int) -> Event:
    return Event(at_s=at_s, kind="progress", detail={"input": str(fed), "position": str(position)})


def note(text: str) -> Event:
    return Event(at_s=12.0, kind="note", subject="instance 0", detail={"text": text})


GOOD = Seen(
    events=(
        Event(at_s=10.0, kind="phase", subject="feed"),
        progress(10.5, 0, 0),
        progress(11.0, 900, 0),
        progress(12.0, 900, 100),
        progress(15.5, 900, 500),
        progress(19.0, 900, 900),
        progress(30.0, 900, 900),
    ),
    produced=Produced(
        answered_s=(11.0, 12.0, 14.0),
        marked=(
            Answer(at_s=12.0, instance=0, throttle_ms=300, error_code=0),
            Answer(at_s=14.0, instance=0, throttle_ms=1700, error_code=0),
        ),
        bytes_asked=900_000,
        from_s=11.0,
        to_s=19.0,
    ),
    findings=(),
    byte_rate=50_000,
    transaction_timeout_ms=10_000,
    stuck_after_s=15.0,
    feed_s=1.0,
)


def met(name: str, seen: Seen) -> tuple[bool | None, str]:
    (point,) = judge_points([name], seen)
    return point.met, point.evidence


def test_a_client_that_is_merely_throttled_meets_them_all() -> None:
    points = judge_points(list(POINTS), GOOD)
    assert [point.name for point in points if point.met is not True] == []
    assert {point.name: point.evidence for point in points} == {
        "throttled": "2 of 3 answers to Produce, 1,000 ms on average, 1,700 ms at most",
        "feed_unhindered": "900 records were in the input after 1.0 s",
        "goes_on": "the longest pause was 3.5 s; the lag was 900 records at most",
        "near_quota": "900,000 bytes in Produce requests while there was work, 8 s;"
        " 50,000 a second, averaged over 11 s, allow 950,000",
        "not_fenced": "no InvalidProducerEpochException and no ProducerFencedException in any"
        " instance's log",
        "no_task_corrupted": "no TaskCorruptedException in any instance's log",
        "no_timeout": "no TimeoutException and no 'due to request timeout' in any instance's log",
        "data_is_whole": "no finding says so",
    }


@pytest.mark.parametrize(
    ("name", "seen", "evidence"),
    [
        ("throttled", replace(GOOD, transaction_timeout_ms=1_500), "1,700 ms at most"),
        ("feed_unhindered", replace(GOOD, feed_s=-10.0), "after 1.0 s"),
        ("goes_on", replace(GOOD, stuck_after_s=3.0), "the longest pause was 3.5 s"),
        ("near_quota", replace(GOOD, byte_rate=200_000), "allow 3,800,000"),
        (
            "near_quota",
            replace(GOOD, events=(*GOOD.events, progress(60.0, 900, 500))),
            "49 s; 50,000 a second, averaged over 11 s, allow 3,000,000",
        ),
        (
            "not_fenced",
            replace(GOOD, events=(note("x InvalidProducerEpochException: old epoch"),)),
            "at 12.0 s instance 0 logged: InvalidProducerEpochException: old epoch",
        ),
        ("no_task_corrupted", replace(GOOD, events=(note("TaskCorruptedException"),)), "12.0 s"),
        (
            "data_is_whole",
            replace(GOOD, findings=(Finding(anomaly="lost", count=3, witnesses=()),)),
            "lost 3",
        ),
    ],
)
def test_what_is_not_met_is_told_with_its_evidence(name: str, seen: Seen, evidence: str) -> None:
    is_met, told = met(name, seen)
    assert is_met is False
    assert evidence in told


def test_a_refused_produce_is_fenced_whatever_the_log_says() -> None:
    refused = Answer(at_s=33.0, instance=0, throttle_ms=0, error_code=47)
    seen = replace(GOOD, produced=replace(GOOD.produced, marked=(refused,)))
    assert met("not_fenced", seen) == (
        False,
        "INVALID_PRODUCER_EPOCH in answer to a Produce at 33.0 s",
    )


def test_without_a_recording_nothing_is_claimed_of_it() -> None:
    blind = replace(GOOD, produced=Produced())
    assert (met("throttled", blind)[0], met("near_quota", blind)[0]) == (None, None)
    assert met("goes_on", replace(GOOD, events=()))[0] is None


def test_an_unknown_point_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match="unknown point 'fast'; known: data_is_whole, "):
        check_points(["fast"])


def test_a_quota_that_throttled_nothing_put_nothing_to_the_test() -> None:
    unhindered = replace(GOOD.produced, marked=())
    assert unthrottled(GOOD.produced, 40_000) == []
    assert unthrottled(unhindered, 40_000) == [
        "what this scenario is about was not seen: with a quota of 40,000 bytes a second none of 3"
        " answers to Produce was throttled; ask for more --records"
    ]
