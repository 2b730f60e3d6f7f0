"""What an instance prints: JSON lines are taken up, telling lines of its log are kept as notes."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from onceproof.history.event import Event, EventLog, read_events
from onceproof.suspects.catalog import find_suspect
from onceproof.suspects.environment import Assignment
from onceproof.suspects.instance import NOTE_CHARS_MAX, NOTES_MAX, Instance

Listen = Callable[[str], list[Event]]


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[Instance]:
    assignment = Assignment(
        bootstrap_servers="",
        input_topic="in",
        output_topic="out",
        app_id="a-long-app-id",
        workload="last",
        state_root=tmp_path,
        transaction_timeout_ms=1,
    )
    events = EventLog(tmp_path / "events.jsonl")
    yield Instance(1, find_suspect("streams_exactly_once"), assignment, tmp_path, events)
    events.close()


@pytest.fixture
def listen(instance: Instance, tmp_path: Path) -> Listen:
    def listened(text: str) -> list[Event]:
        with (tmp_path / "instance-1.log").open("a") as log:
            log.write(text)
        instance.listen()
        return read_events(tmp_path / "events.jsonl")

    return listened


def test_json_lines_are_events_and_count(instance: Instance, listen: Listen) -> None:
    events = listen('{"event": "started"}\n{"event": "committed", "records": 3}\nplain words\n')
    assert [(event.kind, event.detail["event"]) for event in events] == [
        ("said", "started"),
        ("said", "committed"),
    ]
    assert (instance.says_started, instance.speaks, instance.transactions) == (True, True, 1)


def test_a_line_that_is_not_whole_yet_waits(listen: Listen) -> None:
    assert listen('{"event": "sta') == []
    assert [event.detail["event"] for event in listen('rted"}\n')] == ["started"]


def test_settings_it_refuses_are_kept_with_its_own_words(
    instance: Instance, listen: Listen
) -> None:
    listen('{"event": "misconfigured", "why": "Invalid value x"}\n')
    assert instance.complaint == "Invalid value x"


def test_what_its_library_says_of_a_checkpoint_belongs_to_the_history(listen: Listen) -> None:
    line = "INFO store of a-long-app-id-1 initialized from checkpoint with offset 500 at changelog"
    (note,) = listen(f"INFO nothing special\n{line}\n")
    assert (note.kind, note.subject) == ("note", "instance 1")
    assert note.detail["text"] == line.replace("a-long-app-id", "app")


def test_what_it_notes_itself_does_too(instance: Instance, listen: Listen) -> None:
    (note,) = listen('{"event": "note", "text": "a checkpoint is on disk"}\n')
    assert (note.kind, note.detail["text"]) == ("note", "a checkpoint is on disk")
    assert not instance.says_started


def test_a_flood_of_such_lines_is_bounded(listen: Listen) -> None:
    line = "TaskCorruptedException " + "x" * 1_000
    notes = listen(f"{line}\n" * (NOTES_MAX + 5))
    assert len(notes) == NOTES_MAX
    assert len(notes[0].detail["text"]) == NOTE_CHARS_MAX
