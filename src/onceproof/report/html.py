"""report.html: one file, no network, readable without JavaScript. What a run says is escaped."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from onceproof.history.event import Event
from onceproof.history.produced import NOTHING_PRODUCED, Produced
from onceproof.history.verdict import TrialResult
from onceproof.report import wording
from onceproof.report.anomalies import explain
from onceproof.report.story.lanes import draw_story
from onceproof.report.story.steps import Story
from onceproof.report.svg import draw_timeline
from onceproof.report.throttling import told_by_time
from onceproof.report.timeline import build_timeline

EVENTS_SHOWN_MAX = 500
# What the table of the run leaves to the other parts of the page.
SHOWN_ELSEWHERE = ("versions", "seed")


def render_html(
    result: TrialResult,
    run: Mapping[str, Any],
    events: Sequence[Event],
    logs: Sequence[str] = (),
    stories: Sequence[Story | None] = (),
    *,
    produced: Produced = NOTHING_PRODUCED,
) -> str:
    """`run` is run.json, `logs` the names of the files in logs/, `stories` one a finding,
    `produced` what the suspect wrote and how it was throttled.
    """
    timeline = build_timeline(result, events, produced.throttled)
    told = [event for event in events if event.kind in wording.KINDS_TOLD]
    return (
        environment()
        .get_template("page.html")
        .render(
            result=result,
            timeline=timeline,
            throttled=list(told_by_time(produced, events)),
            # All that is not escaped by the template: svg.py and lanes.py escape what they draw.
            picture=Markup(draw_timeline(timeline)),
            stories=_drawn(stories, len(result.findings)),
            events=told[:EVENTS_SHOWN_MAX],
            events_left_out=max(0, len(told) - EVENTS_SHOWN_MAX),
            run=_by_section(run),
            files=_links(run, events, logs),
        )
    )


def _drawn(stories: Sequence[Story | None], findings: int) -> list[tuple[Story, Markup] | None]:
    """One a finding, with its picture."""
    whole = [*stories, *[None] * (findings - len(stories))]
    return [None if story is None else (story, Markup(draw_story(story))) for story in whole]


@cache
def environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(
        explain=explain,
        story_title=wording.STORY_TITLE,
        not_looked_for=wording.NOT_LOOKED_FOR,
        headlines=wording.HEADLINES,
        subject_line=wording.subject_line,
        faults_applied=wording.faults_applied,
        points_met=wording.points_met,
        met=wording.MET,
        fault_told=wording.fault_told,
        event_sentence=wording.event_sentence,
        flat_rows=wording.flat_rows,
    )
    made.filters.update(
        seconds=wording.seconds,
        number=wording.number,
        count_name=wording.count_name,
    )
    return made


def _by_section(run: Mapping[str, Any]) -> dict[str, list[tuple[str, str]]]:
    """Each nested object of run.json is a table of its own; the plain values come first."""
    sections: dict[str, list[tuple[str, str]]] = {"run": []}
    for name, value in run.items():
        if name in SHOWN_ELSEWHERE:
            continue
        if isinstance(value, Mapping) or _is_table(value):
            sections[name] = list(wording.flat_rows(value))
        else:
            sections["run"].extend(wording.flat_rows(value, name))
    return {name: rows for name, rows in sections.items() if rows}


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(entry, Mapping | list) for entry in value)


def _links(
    run: Mapping[str, Any], events: Sequence[Event], logs: Sequence[str]
) -> list[tuple[str, str]]:
    """Name and relative address of what stands beside the report."""
    names = [
        "report.txt",
        "verdict.json",
        *(["run.json"] if run else []),
        *(["history/events.jsonl"] if events else []),
        *(f"logs/{name}" for name in logs),
    ]
    # "./" keeps a name with a colon from being read as another scheme.
    return [(name, "./" + quote(name)) for name in names]
