from pathlib import Path

import made_up_runs
import pytest

from onceproof.errors import UsageError
from onceproof.history.run_directory import RunDirectory
from onceproof.report.write import write_reports


def test_both_reports_are_drawn_from_what_is_stored(tmp_path: Path) -> None:
    directory = made_up_runs.held().store(tmp_path)
    write_reports(directory)
    assert directory.report_txt.read_text().splitlines()[1].startswith("HELD: chaos_loop")
    assert "logs/instance-1.log" in directory.report_html.read_text()


def test_a_run_that_was_moved_is_drawn_the_same(tmp_path: Path) -> None:
    directory = made_up_runs.broken().store(tmp_path / "here")
    write_reports(directory)
    moved = RunDirectory(directory.path.rename(tmp_path / "there"))
    before = moved.report_html.read_text()
    write_reports(moved)
    assert moved.report_html.read_text() == before


def test_a_run_that_left_only_its_verdict_is_drawn(tmp_path: Path) -> None:
    made_up_runs.unknown().result.save(tmp_path / "verdict.json")
    write_reports(RunDirectory(tmp_path))
    assert (tmp_path / "report.html").exists()


def test_a_directory_without_a_verdict_is_refused_with_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"has no verdict\.json; expected the directory of a"):
        write_reports(RunDirectory(tmp_path))


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"scenario": 1}', '"HELD"'])
def test_a_broken_verdict_is_refused_and_names_the_file(tmp_path: Path, text: str) -> None:
    (tmp_path / "verdict.json").write_text(text)
    with pytest.raises(UsageError, match=r"verdict\.json cannot be read: "):
        write_reports(RunDirectory(tmp_path))
    assert not (tmp_path / "report.txt").exists()


def test_a_broken_event_log_is_refused_and_names_the_file(tmp_path: Path) -> None:
    directory = made_up_runs.held().store(tmp_path)
    directory.events.write_text("{}\n")
    with pytest.raises(UsageError, match=r"events\.jsonl cannot be read: "):
        write_reports(directory)
