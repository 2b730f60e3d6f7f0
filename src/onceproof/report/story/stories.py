"""The stories of a finished run: one a finding, of its first witness."""

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from onceproof.history.verdict import TrialResult
from onceproof.report.story.recording import Recording, read_recording
from onceproof.report.story.steps import SECOND_NS, Story
from onceproof.report.story.subject import Subject
from onceproof.report.story.telling import tell_story

ABOUT_A_SECOND = (
    "When the run began is known to the second only: a fault may stand up to a second too early."
)


def read_stories(
    result: TrialResult, run: Mapping[str, Any], history: Path
) -> tuple[Story | None, ...]:
    """None for a finding without a story: it names no record, or nothing was recorded."""
    facts = [finding.witnesses[0].facts if finding.witnesses else {} for finding in result.findings]
    if not any(Subject.of(each).is_known for each in facts):
        return tuple(None for _ in facts)  # a recording is long: not read for nothing
    recording = read_recording(history)
    began = began_ns(run)
    if recording is None or began is None:
        return tuple(None for _ in facts)
    return tuple(_story(each, recording, result, *began) for each in facts)


def _story(
    facts: Mapping[str, Any],
    recording: Recording,
    result: TrialResult,
    began: int,
    is_exact: bool,
) -> Story | None:
    story = tell_story(facts, recording, result.faults, began)
    if story is None or is_exact:
        return story
    return replace(story, notes=(*story.notes, ABOUT_A_SECOND))


def began_ns(run: Mapping[str, Any]) -> tuple[int, bool] | None:
    """When the events' clock began, and whether that is exact. Older runs have only the second."""
    exact = run.get("started_unix_s")
    if isinstance(exact, int | float) and math.isfinite(exact):
        return round(exact * SECOND_NS), True
    try:
        started = datetime.fromisoformat(str(run.get("started_utc")))
    except ValueError:
        return None
    return round(started.timestamp()) * SECOND_NS, False
