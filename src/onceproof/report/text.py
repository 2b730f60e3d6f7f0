"""report.txt: the verdict first, then why, then everything somebody needs to check or repeat it."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from onceproof.history.event import Event
from onceproof.history.fault_record import FaultRecord
from onceproof.history.finding import Finding
from onceproof.history.point import Point
from onceproof.history.produced import NOTHING_PRODUCED, Produced
from onceproof.history.verdict import TrialResult
from onceproof.report import wording
from onceproof.report.anomalies import explain
from onceproof.report.story.steps import Story
from onceproof.report.throttling import told_by_time

COLUMNS = 100
RULE = "=" * COLUMNS
TIME_LINE_ROWS_MAX = 60
RUN_ROWS_MAX = 60
STORY_WAY_MAX = 28


def render_text(
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
    sections = [
        _banner(result),
        _section("WHY", _wrapped(result.reasons)),
        _section("COUNTS", _counts(result.counts)),
        _section(f"FAULTS  {wording.faults_applied(result.faults)}", _faults(result.faults)),
        _section("FINDINGS", _findings(result.findings, stories)),
        _section("NOT LOOKED FOR", _not_looked_for(result.checks_off)),
        _section(f"EXPECTED  {wording.points_met(result.points)}", _points(result.points)),
        _section("TIME LINE", _time_line(events)),
        _section("THROTTLED", (f"  {row}" for row in told_by_time(produced, events))),
        _section("VERSIONS", _aligned(wording.flat_rows(result.versions))),
        _section("RUN", _run(run)),
        _section("REPEAT", [f"  {result.repeat}"] if result.repeat else []),
        _section("LOGS", _logs(logs)),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def _section(title: str, lines: Iterable[str]) -> str:
    """Nothing at all where there is nothing to say."""
    body = list(lines)
    return "\n".join([title, *body]) if body else ""


def _banner(result: TrialResult) -> str:
    return "\n".join(
        [
            RULE,
            f"{result.verdict}: {result.scenario}: {wording.HEADLINES[result.verdict]}",
            wording.subject_line(result),
            RULE,
        ]
    )


def _wrapped(sentences: Iterable[str], bullet: str = "  - ") -> Iterator[str]:
    for sentence in sentences:
        yield from _paragraph(sentence, bullet)


def _paragraph(sentence: str, first: str) -> list[str]:
    """Wrapped, later lines hanging under the first; a path or an id is never broken in two.

    Lines of its own (the tail of a log) stay lines.
    """
    hanging = " " * len(first)
    wrapped: list[str] = []
    for line in sentence.splitlines():
        wrapped += textwrap.wrap(
            line,
            width=COLUMNS,
            initial_indent=hanging if wrapped else first,
            subsequent_indent=hanging,
            break_long_words=False,
            break_on_hyphens=False,
        )
    return wrapped


def _counts(counts: Mapping[str, int]) -> Iterator[str]:
    values = {wording.count_name(name): wording.number(count) for name, count in counts.items()}
    name_width = max((len(name) for name in values), default=0)
    value_width = max((len(value) for value in values.values()), default=0)
    return (f"  {name:<{name_width}}  {value:>{value_width}}" for name, value in values.items())


def _faults(faults: Sequence[FaultRecord]) -> Iterator[str]:
    if not faults:
        return
    target_width = max(len("target"), *(len(fault.target) for fault in faults))
    action_width = max(len("action"), *(len(fault.action) for fault in faults))
    form = (
        f"  {{:>3}}  {{:>4}}  {{:>9}}  {{:<{action_width}}}  {{:<{target_width}}}  {{:<7}}  {{:>9}}"
    )
    yield form.format("#", "iter", "at", "action", "target", "applied", "healed")
    for place, fault in enumerate(faults, start=1):
        iteration = "-" if fault.iteration is None else str(fault.iteration)
        applied = "yes" if fault.applied else "NO"
        healed = wording.seconds(fault.healed_at_s)
        at = wording.seconds(fault.at_s)
        yield form.format(place, iteration, at, fault.action, fault.target, applied, healed)
        yield from _paragraph(wording.fault_told(fault), " " * 13)


def _findings(findings: Iterable[Finding], stories: Sequence[Story | None] = ()) -> Iterator[str]:
    for place, finding in enumerate(findings):
        story = stories[place] if place < len(stories) else None
        if place:
            yield ""
        yield f"  {finding.anomaly}: {wording.plural(finding.count, 'case')}"
        yield from _paragraph(explain(finding.anomaly), "    ")
        for rank, witness in enumerate(finding.witnesses, start=1):
            yield from _paragraph(witness.sentence, f"    {rank:>2}. ")
        unseen = finding.count - len(finding.witnesses)
        if finding.witnesses and unseen > 0:
            yield f"        and {wording.number(unseen)} more"
        if story is not None:
            yield from _story(story)


def _not_looked_for(checks: Sequence[str]) -> Iterator[str]:
    if checks:
        yield from _paragraph(f"{wording.NOT_LOOKED_FOR}: {', '.join(checks)}", "  ")


def _points(points: Iterable[Point]) -> Iterator[str]:
    for point in points:
        yield from _paragraph(point.says, f"  {wording.MET[point.met]:<7}  ")
        yield from _paragraph(point.evidence, " " * 11)


def _story(story: Story) -> Iterator[str]:
    """Faults, and frames that the proxy did something to, have a mark before them."""
    yield f"        {wording.STORY_TITLE}:"
    ways = [f"{step.lane} → {step.to}" if step.to else step.lane for step in story.steps]
    width = min(STORY_WAY_MAX, max((len(way) for way in ways), default=0))
    for step, way in zip(story.steps, ways, strict=True):
        mark = "!" if step.is_fault else " "
        at = "" if step.at_s is None else f"{step.at_s:.3f} s"
        yield from _paragraph(
            step.what, f"        {mark} {at:>10}  {wording.clipped(way, width):<{width}}  "
        )
    yield from _wrapped(story.notes, "          - ")
    for short, whole in story.names.items():
        yield from _paragraph(whole, f"          {short} = ")


def _time_line(events: Iterable[Event]) -> Iterator[str]:
    told = [event for event in events if event.kind in wording.KINDS_TOLD]
    rows = [_time_line_row(event) for event in told]
    if len(rows) <= TIME_LINE_ROWS_MAX:
        yield from rows
        return
    half = TIME_LINE_ROWS_MAX // 2
    yield from rows[:half]
    yield f"             … {len(rows) - 2 * half} more in history/events.jsonl"
    yield from rows[-half:]


def _time_line_row(event: Event) -> str:
    return "\n".join(
        _paragraph(wording.event_sentence(event), f"  {wording.seconds(event.at_s):>9}  ")
    )


def _run(run: Mapping[str, Any]) -> Iterator[str]:
    """What run.json says beyond the verdict's own words."""
    beyond = {name: value for name, value in run.items() if name not in ("versions", "seed")}
    rows = list(wording.flat_rows(beyond))
    yield from _aligned(rows[:RUN_ROWS_MAX])
    if len(rows) > RUN_ROWS_MAX:
        yield f"  … {len(rows) - RUN_ROWS_MAX} more in run.json"


def _aligned(pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    rows = list(pairs)
    width = max((len(name) for name, _ in rows), default=0)
    for name, value in rows:
        yield from _paragraph(value or "-", f"  {name:<{width}}  ")


def _logs(logs: Sequence[str]) -> Iterator[str]:
    yield "  the whole history: history/events.jsonl"
    yield from (f"  logs/{name}" for name in logs)
