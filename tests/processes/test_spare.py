"""A spare waits until it is told who it is, and is an instance like any other then. Real ones."""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from onceproof.deadline import Deadline, wait_until
from onceproof.history.event import EventLog
from onceproof.suspects.catalog import SUSPECTS
from onceproof.suspects.environment import Assignment
from onceproof.suspects.instance import Instance
from onceproof.suspects.spare import Spares

PROGRAM = """
import json, os, signal, sys, time
from onceproof.suspects.environment import wait_at_the_door
print("begun by", os.getpid(), flush=True)
wait_at_the_door(lambda: False)
told = {"event": "started", "app": os.environ["ONCEPROOF_APP_ID"], "pid": os.getpid()}
print(json.dumps(told), flush=True)
time.sleep(60)
"""


@pytest.fixture
def argv(tmp_path: Path) -> tuple[str, ...]:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    return (sys.executable, str(program))


@pytest.fixture
def assignment(tmp_path: Path) -> Assignment:
    return Assignment(
        bootstrap_servers="nowhere:1",
        input_topic="in",
        output_topic="out",
        app_id="app-7",
        workload="copy",
        state_root=tmp_path / "state",
        transaction_timeout_ms=1_000,
    )


@pytest.fixture
def spares(tmp_path: Path) -> Iterator[Spares]:
    spares = Spares(tmp_path / "spares")
    yield spares
    spares.close()


@pytest.fixture
def events(tmp_path: Path) -> Iterator[EventLog]:
    events = EventLog(tmp_path / "events.jsonl")
    yield events
    events.close()


def said(tmp_path: Path) -> list[dict[str, str]]:
    lines = (tmp_path / "events.jsonl").read_text().splitlines()
    return [each["detail"] for each in map(json.loads, lines) if each["kind"] == "said"]


def test_a_start_takes_the_spare_and_each_start_has_its_own_log(
    argv: tuple[str, ...],
    assignment: Assignment,
    spares: Spares,
    events: EventLog,
    tmp_path: Path,
) -> None:
    suspect = replace(SUSPECTS["spark_exactly_once"], argv=argv)
    logs = tmp_path / "logs"
    instance = Instance(0, suspect, assignment, logs, events, spares=spares)
    try:
        for start in (1, 2):
            instance.start()

            def has_started() -> bool:
                instance.listen()
                return instance.says_started

            wait_until(has_started, Deadline(20), "did not start")
            assert said(tmp_path)[-1]["app"] == "app-7"
            assert len(said(tmp_path)) == start
            instance.kill()
    finally:
        instance.end()
    # The first was started as ever, for there was no spare yet; the second had been one.
    assert "begun by" in (logs / "instance-0.log").read_text()
    assert "begun by" in (logs / "instance-0-start-2.log").read_text()


def test_one_that_was_begun_otherwise_or_has_died_is_not_taken(
    argv: tuple[str, ...], assignment: Assignment, spares: Spares
) -> None:
    assert spares.take(argv, assignment) is None
    assert spares.take(argv, replace(assignment, settings={"lanes": "4"})) is None
    assert spares.take(argv, replace(assignment, spark_java_options="-Xmx1g")) is None
    spare = spares.take(argv, replace(assignment, spark_java_options="-Xmx1g", app_id="another"))
    assert spare is not None
    spare.child.kill()
    waiting = spares.take((*argv, "more"), assignment)
    assert waiting is None
    assert spares._waiting is not None
    spares._waiting[1].child.kill()
    assert spares.take((*argv, "more"), assignment) is None
