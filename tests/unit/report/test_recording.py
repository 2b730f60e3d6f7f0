"""Recordings as they are stored, by this version and by older ones."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import made_up_runs
import pyarrow
import pyarrow.parquet
import pytest
from made_up_wire import BEGAN_S, MadeUpWire, killed_between_write_and_checkpoint

from onceproof.errors import UsageError
from onceproof.history.finding import Finding, Witness
from onceproof.history.run_directory import RunDirectory
from onceproof.report.story import recording
from onceproof.report.story.recording import Frame, WirePlace, read_recording
from onceproof.report.story.stories import ABOUT_A_SECOND, began_ns, read_stories
from onceproof.report.story.telling import TOO_LONG
from onceproof.report.write import write_reports
from onceproof.wire.facts import Place
from onceproof.wire.recorder import SCHEMA


def test_what_is_stored_is_what_is_read(tmp_path: Path) -> None:
    wire = killed_between_write_and_checkpoint()
    wire.ask(20.0, "Heartbeat", 1, answered_s=20.1)
    wire.store(tmp_path)
    kept = [exchange for exchange in wire.recording().exchanges if exchange.api != "Heartbeat"]
    read = read_recording(tmp_path)
    assert read is not None
    assert list(read.exchanges) == kept
    assert read.batches == wire.recording().batches


def test_the_columns_read_are_columns_that_the_recorder_writes() -> None:
    assert {each.name for each in fields(Frame)} <= set(SCHEMA.names)
    assert [each.name for each in fields(WirePlace)] == [each.name for each in fields(Place)]


def test_a_recording_of_an_older_version_is_read_without_what_it_lacks(tmp_path: Path) -> None:
    killed_between_write_and_checkpoint().store(tmp_path)
    part = tmp_path / "wire" / "wire-00001.parquet"
    rows = pyarrow.parquet.read_table(part).drop_columns(["first_sequence"]).to_pylist()
    for row in rows:
        for place in row["places"]:
            del place["records"], place["last_offset"]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), part)
    read = read_recording(tmp_path)
    assert read is not None
    fetch = next(read.of("Fetch"))
    assert fetch.response is not None
    assert fetch.response.places[0].last_offset is None


def test_a_number_used_again_on_a_connection_does_not_mix_up_two_requests() -> None:
    wire = MadeUpWire().produce(1.0, 10, 1, answered_s=None).produce(2.0, 20, 1)
    wire.frames = [replace(frame, correlation_id=5) for frame in wire.frames]
    first, second = wire.recording().exchanges
    assert first.response is None
    assert second.response is not None
    assert second.at_ns < second.answered_ns


def test_nothing_recorded_is_no_recording(tmp_path: Path) -> None:
    assert read_recording(tmp_path) is None


def test_a_recording_longer_than_a_report_reads_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = made_up_runs.broken()
    directory = made.store(tmp_path)
    monkeypatch.setattr(recording, "FRAMES_MAX", 3)
    stories = read_stories(made.result, made.run, directory.history)
    assert [story.notes for story in stories if story] == [(TOO_LONG,), (TOO_LONG,)]


@pytest.mark.parametrize(
    ("run", "began"),
    [
        ({"started_unix_s": 1.5, "started_utc": "x"}, (1_500_000_000, True)),
        ({"started_utc": "1970-01-01T00:00:07Z"}, (7_000_000_000, False)),
        ({"started_unix_s": float("nan")}, None),
        ({"started_utc": "yesterday"}, None),
        ({}, None),
    ],
)
def test_when_a_run_began(run: dict[str, Any], began: tuple[int, bool] | None) -> None:
    assert began_ns(run) == began


def test_both_reports_of_a_stored_run_tell_its_stories(tmp_path: Path) -> None:
    made = made_up_runs.broken()
    directory = made.store(tmp_path)
    write_reports(directory)
    text, page = directory.report_txt.read_text(), directory.report_html.read_text()
    assert text.count("The first one on the wire:") == 2
    assert "13.850 s  instance 0 → broker 2  Produce of 60 records to out-0" in text
    assert page.count('<svg class="lanes"') == 2


def test_an_older_run_that_knows_its_start_to_the_second_says_so(tmp_path: Path) -> None:
    made = made_up_runs.broken()
    directory = made.store(tmp_path)
    story, _ = read_stories(made.result, {"started_utc": "2023-11-14T22:13:20Z"}, directory.history)
    assert story is not None
    assert story.notes[-1] == ABOUT_A_SECOND
    assert story.steps[0].at_s == pytest.approx(13.7 + BEGAN_S % 1)


def test_runs_without_a_recording_or_without_a_start_have_no_stories(tmp_path: Path) -> None:
    made = made_up_runs.broken()
    assert read_stories(made.result, made.run, tmp_path) == (None, None)
    directory = made.store(tmp_path)
    assert read_stories(made.result, {}, directory.history) == (None, None)


def test_the_recording_is_not_read_for_findings_that_name_no_record(tmp_path: Path) -> None:
    (tmp_path / "wire").mkdir()
    (tmp_path / "wire" / "wire-00001.parquet").write_text("not Parquet")
    witness = Witness(sentence="instance 2 ended unasked: died.", facts={"instance": 2})
    finding = Finding(anomaly="died", count=1, witnesses=(witness,))
    bare = Finding(anomaly="stuck", count=1)
    result = replace(made_up_runs.broken().result, findings=(finding, bare))
    assert read_stories(result, {"started_unix_s": 1.0}, tmp_path) == (None, None)


def test_a_recording_that_cannot_be_read_is_refused_and_named(tmp_path: Path) -> None:
    directory = made_up_runs.broken().store(tmp_path)
    (directory.history / "wire" / "wire-00002.parquet").write_text("not Parquet")
    with pytest.raises(UsageError, match=r"history/wire cannot be read: "):
        write_reports(RunDirectory(directory.path))
