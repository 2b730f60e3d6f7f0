"""run.json as a report needs it."""

import json
from pathlib import Path

import pytest

from onceproof.history.event import EventLog
from onceproof.history.run_directory import RunDirectory
from onceproof.machine import Java
from onceproof.report.story.stories import began_ns
from onceproof.trial import about
from onceproof.trial.planning.plan import make_plan
from onceproof.trial.planning.request import Request


def test_the_start_is_told_exactly_enough_to_place_frames_among_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(about, "versions", lambda _: {})  # asks Java, which is not needed here
    directory = RunDirectory.create(tmp_path, "tc01_normal", 1)
    events = EventLog(directory.events)
    about.write_run_json(directory, make_plan(Request(scenario="tc01_normal")), events.began_at)
    events.close()
    run = json.loads(directory.run_json.read_text())
    began = began_ns(run)
    assert began is not None
    assert began[0] == pytest.approx(events.began_at * 1e9, abs=2_000)
    assert began[1]
    utc_only = began_ns({"started_utc": run["started_utc"]})
    assert utc_only is not None
    assert 0 <= began[0] - utc_only[0] < 1_000_000_000


@pytest.mark.parametrize(
    ("version", "told"), [("4.3.1", "4.3.1"), ("4.0.7", "4.0.7 (not in the committed lock)")]
)
def test_brokers_outside_the_committed_lock_are_told(
    version: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = Java(home=Path(), executable=Path(), version="17")
    monkeypatch.setattr(about, "find_java", lambda: java)
    assert about.versions(make_plan(Request(kafka=version)))["kafka"] == told
