"""An instance whose process is succeeded by another while it still runs: real, small processes."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from onceproof.deadline import Deadline, wait_until
from onceproof.history.event import EventLog
from onceproof.suspects.catalog import find_suspect
from onceproof.suspects.environment import Assignment
from onceproof.suspects.instance import Instance
from onceproof.suspects.suspect import Suspect

TELL_STATE_DIR = (
    "import os, time; print(os.environ['ONCEPROOF_STATE_DIR'], flush=True); time.sleep(60)"
)
DIE = "import sys; print('no such library'); print(); sys.exit(3)"


@contextmanager
def running(suspect: Suspect, program: str, folder: Path) -> Iterator[Instance]:
    assignment = Assignment(
        bootstrap_servers="",
        input_topic="in",
        output_topic="out",
        app_id="app",
        workload="copy",
        state_root=folder / "state",
        transaction_timeout_ms=1,
    )
    events = EventLog(folder / "events.jsonl")
    small = replace(suspect, argv=(sys.executable, "-c", program))
    instance = Instance(0, small, assignment, folder, events)
    instance.start()
    try:
        yield instance
    finally:
        instance.end()
        events.close()


def said(log: Path) -> str:
    wait_until(lambda: log.is_file() and log.read_text().endswith("\n"), Deadline(20), "silent")
    return log.read_text().strip()


@pytest.mark.parametrize(
    ("name", "successor"),
    [("streams_exactly_once", "start-2/instance-0"), ("spark_exactly_once", "instance-0")],
)
def test_a_locked_state_directory_is_left_to_the_old_one(
    name: str, successor: str, tmp_path: Path
) -> None:
    with running(find_suspect(name), TELL_STATE_DIR, tmp_path) as instance:
        assert said(instance.log) == str(tmp_path / "state" / "instance-0")
        instance.start_successor()
        assert said(instance.log) == str(tmp_path / "state" / successor)
        assert instance.is_haunted()


def test_one_that_dies_at_once_has_last_words(tmp_path: Path) -> None:
    with running(find_suspect("streams_java"), DIE, tmp_path) as instance:
        wait_until(lambda: not instance.is_running(), Deadline(20), "it lives")
        assert (instance.notice_exit(), instance.was_up) == (3, False)
        assert instance.last_words() == "no such library"
