"""How numbers, moments and events read: one wording for the text and the HTML report."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from onceproof.history.event import Event
from onceproof.history.fault_record import FaultRecord
from onceproof.history.point import Point
from onceproof.history.verdict import TrialResult, Verdict

HEADLINES = {
    Verdict.HELD: "no anomaly found",
    Verdict.BROKEN: "the guarantee does not hold",
    Verdict.UNKNOWN: "it could not be told",
}
# Samples and a suspect's own lines are drawn as curves or kept in the event log: too many to read.
KINDS_TOLD = ("phase", "iteration", "started", "exited", "fault", "healed", "note")
MET = {True: "met", False: "NOT MET", None: "unknown"}
STORY_TITLE = "The first one on the wire"
NOT_LOOKED_FOR = "Checks that do not fit this trial: what they need is not claimed, or not recorded"


def seconds(at_s: float | None) -> str:
    return "-" if at_s is None else f"{at_s:.1f} s"


def number(value: int) -> str:
    return f"{value:,}"


def clipped(words: str, letters: int) -> str:
    return words if len(words) <= letters else words[: letters - 1] + "…"


def plural(count: int, noun: str) -> str:
    return f"{number(count)} {noun}" + ("" if count == 1 else "s")


def subject_line(result: TrialResult) -> str:
    parts = [f"suspect {result.suspect}", f"workload {result.workload}", f"seed {result.seed}"]
    if result.iterations is not None:
        parts.append(plural(result.iterations, "iteration"))
    return ", ".join([*parts, seconds(result.duration_s)])


def faults_applied(faults: Sequence[FaultRecord]) -> str:
    if not faults:
        return "none scheduled"
    return f"{sum(fault.applied for fault in faults)} of {len(faults)} applied"


def points_met(points: Sequence[Point]) -> str:
    return f"{sum(point.met is True for point in points)} of {len(points)} met"


def fault_told(fault: FaultRecord) -> str:
    """What shows it, and how long it kept the suspect from its work."""
    if fault.recovery_s is None:
        return fault.evidence
    return f"{fault.evidence}; work went on after {fault.recovery_s:.1f} s"


def count_name(name: str) -> str:
    return name.replace("_", " ")


def event_sentence(event: Event) -> str:
    """One event as one line of the time line."""
    detail = event.detail
    if event.kind == "started":
        return f"{event.subject} started" + _if_known(" (pid {})", detail.get("pid"))
    if event.kind == "exited":
        return _exit_sentence(event)
    if event.kind == "fault":
        word = "" if detail.get("applied") == "true" else " DID NOT APPLY"
        return f"fault: {detail.get('action', '?')} {event.subject}{word}"
    if event.kind == "healed":
        return f"healed: {detail.get('action', '?')} {event.subject}"
    if event.kind == "note" and "text" in detail:
        return f"{event.subject}: {detail['text']}"
    return " ".join([event.kind, event.subject, *flat_words(detail)]).strip()


def _exit_sentence(event: Event) -> str:
    detail = event.detail
    code = _if_known(" with {}", detail.get("code"))
    if detail.get("asked") == "true":
        return f"{event.subject} exited{code}, as asked"
    return f"{event.subject} EXITED{code} BY ITSELF" + _if_known("; see {}", detail.get("log"))


def _if_known(form: str, value: str | None) -> str:
    return "" if value is None else form.format(value)


def flat_words(detail: Mapping[str, str]) -> Iterator[str]:
    return (f"{name}={value}" for name, value in detail.items())


def flat_rows(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Nested configuration as rows: {"a": {"b": 1}} is ("a.b", "1"); a list is one row an entry."""
    if isinstance(value, Mapping):
        for part, inner in value.items():
            yield from flat_rows(inner, f"{name}.{part}" if name else str(part))
    elif isinstance(value, list) and any(isinstance(entry, Mapping | list) for entry in value):
        for place, inner in enumerate(value, start=1):
            yield from flat_rows(inner, f"{name}.{place}")
    elif isinstance(value, list):
        yield name, " ".join(str(entry) for entry in value)
    else:
        yield name, "" if value is None else str(value)
