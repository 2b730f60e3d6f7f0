"""The log of events: its order is its times."""

import threading
from itertools import pairwise
from pathlib import Path

from onceproof.history.event import Event, EventLog, read_events, while_it_ran


def test_no_two_events_have_the_same_time(tmp_path: Path) -> None:
    log = EventLog(tmp_path / "events.jsonl")

    def write() -> None:
        for number in range(200):
            log.write("phase", str(number))

    writers = [threading.Thread(target=write) for _ in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    log.close()
    times = [event.at_s for event in read_events(tmp_path / "events.jsonl")]
    assert len(times) == 600
    assert all(before < after for before, after in pairwise(times))


def test_what_it_did_before_it_was_asked_to_end() -> None:
    events = [
        Event(at_s=1.0, kind="phase", subject="drain"),
        Event(at_s=2.0, kind="note", subject="settle"),
        Event(at_s=3.0, kind="phase", subject="settle"),
        Event(at_s=4.0, kind="note", subject="instance 0"),
    ]
    assert while_it_ran(events) == events[:2]
    assert while_it_ran(events[:2]) == events[:2]
