"""Throttling as the wire tells it: read back, told by time, and drawn as a lane."""

from pathlib import Path

from onceproof.history.event import Event
from onceproof.history.produced import Answer, Produced, read_produced
from onceproof.history.verdict import TrialResult, Verdict
from onceproof.report.throttling import told_by_time
from onceproof.report.timeline import build_timeline
from onceproof.wire.facts import Facts
from onceproof.wire.matching import Direction, Seen
from onceproof.wire.recorder import ParquetRecorder
from onceproof.wire.verdict import PASS

BEGAN_S = 1_000.0


def frame(direction: Direction, *, instance: int | None, throttle_ms: int | None = None) -> Seen:
    return Seen(
        direction=direction,
        listener="suspects",
        broker=1,
        connection=1,
        client_id="app",
        instance=instance,
        start=1,
        sender=None,
        api="Produce",
        version=11,
        correlation_id=1,
        size=500,
        facts=Facts(error_code=0, throttle_ms=throttle_ms),
    )


def test_what_the_proxy_records_is_read_back(tmp_path: Path) -> None:
    recorder = ParquetRecorder(tmp_path / "wire")
    asked, told = Direction.REQUEST, Direction.RESPONSE
    for at_s, seen in (
        (2.0, frame(asked, instance=0)),
        (2.1, frame(told, instance=0, throttle_ms=700)),
        (2.2, frame(told, instance=None, throttle_ms=900)),  # not of an instance of the suspect's
        (2.3, frame(told, instance=0, throttle_ms=0)),
        (4.0, frame(asked, instance=0)),
    ):
        recorder.record(seen, PASS, at_ns=int((BEGAN_S + at_s) * 1e9))
    recorder.flush()
    produced = read_produced({"started_unix_s": BEGAN_S}, tmp_path)
    (answer,) = produced.marked
    assert [round(at_s, 3) for at_s in produced.answered_s] == [2.1, 2.3]
    assert (round(answer.at_s, 3), answer.instance, answer.throttle_ms) == (2.1, 0, 700)
    assert (produced.bytes_asked, round(produced.from_s), round(produced.to_s)) == (1_000, 2, 4)
    assert read_produced({}, tmp_path) == read_produced({"started_unix_s": 1}, tmp_path / "none")


def answer(at_s: float, throttle_ms: int) -> Answer:
    return Answer(at_s=at_s, instance=0, throttle_ms=throttle_ms, error_code=0)


def test_each_five_seconds_are_a_line_with_the_lag() -> None:
    produced = Produced(
        answered_s=(11.0, 12.0, 14.0), marked=(answer(12.0, 300), answer(14.0, 900))
    )
    lags = [
        Event(at_s=at_s, kind="progress", detail={"input": "1500", "position": done})
        for at_s, done in ((12.0, "0"), (14.5, "100"), (16.0, "1493"))
    ]
    assert list(told_by_time(produced, lags)) == [
        "10 s to 15 s: 2 of 3 answers, 600 ms on average, 900 ms at most; lag 1,400"
    ]


def test_waits_are_a_lane_of_their_own() -> None:
    held = TrialResult(scenario="s", suspect="x", workload="copy", seed=1, verdict=Verdict.HELD)
    waits = [answer(1.0, 500), answer(1.2, 100), answer(1.3, 400), answer(3.0, 50)]
    timeline = build_timeline(held, [], waits)
    lane = timeline.lanes[-1]
    assert lane.name == "throttled 0"
    assert [(span.from_s, round(span.to_s, 2), span.label) for span in lane.spans] == [
        (1.0, 1.7, "400 ms"),
        (3.0, 3.05, "50 ms"),
    ]
