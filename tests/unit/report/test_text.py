from dataclasses import replace

import made_up_runs

from onceproof.history.event import Event
from onceproof.history.finding import Finding, Witness
from onceproof.history.point import Point
from onceproof.history.produced import Answer, Produced
from onceproof.report.html import render_html
from onceproof.report.text import RUN_ROWS_MAX, TIME_LINE_ROWS_MAX, render_text
from onceproof.report.wording import event_sentence

HELD = made_up_runs.held().result


def test_a_note_reads_as_what_its_subject_says() -> None:
    note = Event(at_s=1.0, kind="note", subject="instance 0", detail={"text": "a checkpoint"})
    assert event_sentence(note) == "instance 0: a checkpoint"


def test_the_tail_of_a_log_keeps_its_lines() -> None:
    sentence = "instance 0 exited with 3; its log ends:\nTraceback\nValueError: no licence"
    died = Finding(anomaly="died", count=1, witnesses=(Witness(sentence=sentence),))
    lines = render_text(replace(HELD, findings=(died,)), {}, []).splitlines()
    first = lines.index("     1. instance 0 exited with 3; its log ends:")
    assert lines[first + 1 : first + 3] == ["        Traceback", "        ValueError: no licence"]


def test_a_long_time_line_keeps_its_beginning_and_its_end_and_says_what_is_left_out() -> None:
    events = [Event(at_s=float(at), kind="note", subject=f"n{at}") for at in range(100)]
    text = render_text(HELD, {}, events)
    assert text.count(" note n") == TIME_LINE_ROWS_MAX
    assert "… 40 more in history/events.jsonl" in text
    assert " note n0\n" in text
    assert " note n99\n" in text


def test_a_long_configuration_is_cut_and_says_where_the_rest_is() -> None:
    run = {"configuration": {f"key{rank}": rank for rank in range(RUN_ROWS_MAX + 7)}}
    assert "… 7 more in run.json" in render_text(HELD, run, [])


def test_a_section_with_nothing_to_say_is_left_out() -> None:
    bare = replace(HELD, reasons=(), counts={}, faults=(), versions={}, repeat="")
    titles = [line for line in render_text(bare, {}, []).splitlines() if line.isupper()]
    assert titles == ["LOGS"]


def test_checks_that_were_off_are_told() -> None:
    text = render_text(replace(HELD, checks_off=("stale-offset", "zombie-write")), {}, [])
    assert "NOT LOOKED FOR\n" in text
    assert " ".join(text.split()).count("not recorded: stale-offset, zombie-write") == 1


def test_points_are_told_with_their_evidence_and_throttling_by_time() -> None:
    points = (
        Point(name="throttled", says="brokers throttle it", met=True, evidence="4 of 38 answers"),
        Point(name="not_fenced", says="no producer is fenced", met=False, evidence="at 40.0 s"),
        Point(name="near_quota", says="near the quota", met=None, evidence="no quota"),
    )
    waits = Answer(at_s=7.0, instance=0, throttle_ms=1_200, error_code=0)
    produced = Produced(answered_s=(6.0, 7.0), marked=(waits,))
    text = render_text(replace(HELD, points=points), {}, [], produced=produced)
    assert (
        "\n".join(
            [
                "EXPECTED  1 of 3 met",
                "  met      brokers throttle it",
                "           4 of 38 answers",
                "  NOT MET  no producer is fenced",
                "           at 40.0 s",
                "  unknown  near the quota",
                "           no quota",
            ]
        )
        in text
    )
    assert "THROTTLED\n  5 s to 10 s: 1 of 2 answers, 1,200 ms on average" in text
    page = render_html(replace(HELD, points=points), {}, [], produced=produced)
    assert "<td>NOT MET</td><td>no producer is fenced</td><td>at 40.0 s</td>" in page
    assert "1 of 2 answers, 1,200 ms on average" in page
