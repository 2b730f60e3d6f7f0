"""Draws both reports from what a run directory holds: all that `onceproof report RUN_DIR` does."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from onceproof.errors import UsageError
from onceproof.history.event import Event, read_events
from onceproof.history.produced import Produced, read_produced
from onceproof.history.run_directory import RunDirectory
from onceproof.history.verdict import TrialResult
from onceproof.report.html import render_html
from onceproof.report.story.steps import Story
from onceproof.report.story.stories import read_stories
from onceproof.report.text import render_text


def write_reports(run_directory: RunDirectory) -> None:
    """report.txt and report.html anew. Needs a verdict; the rest may be missing."""
    result = _verdict(run_directory)
    run = _run(run_directory.run_json)
    events = _events(run_directory.events)
    logs = _logs(run_directory.logs)
    stories = _stories(result, run, run_directory.history)
    produced = _produced(run, run_directory.history)
    text = render_text(result, run, events, logs, stories, produced=produced)
    page = render_html(result, run, events, logs, stories, produced=produced)
    run_directory.report_txt.write_text(text, encoding="utf-8")
    run_directory.report_html.write_text(page, encoding="utf-8")


def _verdict(run_directory: RunDirectory) -> TrialResult:
    path = run_directory.verdict_json
    if not path.is_file():
        raise UsageError(
            f"{run_directory.path} has no verdict.json; expected the directory of a finished run "
            "(runs/<scenario>/<utc>-s<seed>)"
        )
    try:
        return TrialResult.load(path)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _unreadable(path, error) from error


def _run(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        run = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise _unreadable(path, error) from error
    if not isinstance(run, dict):
        raise UsageError(f"{path} must hold a JSON object; got {type(run).__name__}")
    return run


def _events(path: Path) -> list[Event]:
    if not path.is_file():
        return []
    try:
        return read_events(path)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _unreadable(path, error) from error


def _stories(
    result: TrialResult, run: Mapping[str, Any], history: Path
) -> tuple[Story | None, ...]:
    try:
        return read_stories(result, run, history)
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        raise _unreadable(history / "wire", error) from error


def _produced(run: Mapping[str, Any], history: Path) -> Produced:
    try:
        return read_produced(run, history)
    except (ValueError, TypeError, OSError) as error:
        raise _unreadable(history / "wire", error) from error


def _unreadable(path: Path, error: Exception) -> UsageError:
    return UsageError(f"{path} cannot be read: {type(error).__name__}: {error}")


def _logs(folder: Path) -> list[str]:
    """Names below logs/, a subfolder's file as `folder/name`."""
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )
