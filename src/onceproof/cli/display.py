"""What a person sees while a run goes on: a live panel on a terminal, plain lines elsewhere."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from onceproof.cli.printing import say_error
from onceproof.faults.toggle import STARTED, TOGGLE
from onceproof.history.event import Event
from onceproof.history.verdict import TrialResult, Verdict

if TYPE_CHECKING:
    from rich.text import Text

    from onceproof.trial.planning.plan import Plan

PROGRESS_LINE_EVERY_S = 10.0
FETCH_LINE_EVERY_S = 1.0
WITNESSES_SHOWN = 3
BAR_WIDTH = 30
RED, GREEN, YELLOW, PLAIN = "\033[1;31m", "\033[1;32m", "\033[1;33m", "\033[0m"
COLOURS = {Verdict.HELD: GREEN, Verdict.BROKEN: RED, Verdict.UNKNOWN: YELLOW}


class Picture:
    """The state of the run as the events tell it."""

    def __init__(self, plan: "Plan") -> None:
        self._plan = plan
        self.phase = "fetch"
        self.iteration = 0
        self.in_force: dict[str, str] = {}
        self.progress: dict[str, str] = {}
        self.fetching = ""
        self.at_s = 0.0
        self._toggles = 0
        self._toggled_by: dict[str, int] = {}  # instance → the step of the program that did it

    def take(self, event: Event) -> None:
        self.at_s = event.at_s
        if event.kind == "phase":
            self.phase = event.subject
        elif event.kind == "iteration":
            self.iteration = int(event.subject)
        elif event.kind == "progress":
            self.progress = dict(event.detail)
        elif event.kind == "fetch":
            self.fetching = bar(event)
        elif event.kind == "fault" and event.detail["action"] == TOGGLE:
            self._toggled_by[event.subject] = self._toggles
            self._toggles += 1
        elif event.kind == "fault" and event.detail["applied"] == "true":
            self.in_force[event.subject] = event.detail["action"]
        elif event.kind == "healed":
            self.in_force.pop(event.subject, None)

    def told(self, event: Event) -> str | None:
        """A line for the event that was taken last; None: none."""
        detail = event.detail
        step = self._toggled_by.get(event.subject)
        number = event.subject.rpartition(" ")[2]
        if detail.get("action") == TOGGLE and detail.get("applied") != "false":
            starts = detail.get("evidence", "").startswith(STARTED)
            how = f"starting instance +{number}" if starts else f"stopping instance -{number}"
            return f"[{step}] {how}" if event.kind == "fault" else None
        if event.kind == "said" and detail.get("event") == "stale" and step is not None:
            return (
                f"[{step}]!!! BROKEN !!! Expected {detail['expected']} but found"
                f" {detail['found']} partition: {detail['partition']}"
            )
        return told(event)

    def line(self) -> str:
        if self.phase == "fetch":
            return self.fetching
        progress = self.progress
        total = self._plan.input.records
        parts = [f"{self.at_s:6.1f} s", f"{self.phase:5}"]
        if self._plan.scenario.iterations > 1 and self.iteration:
            parts.append(f"iteration {self.iteration}/{self._plan.scenario.iterations}")
        if progress:
            parts.append(f"in {int(progress['input']):,}/{total:,}")
            parts.append(f"processed {int(progress['position']):,}")
            parts.append(f"output log {int(progress['output']):,}")
            parts.append(f"transactions {progress['transactions']}")
        for target, action in self.in_force.items():
            parts.append(f"[{action} {target}]")
        return " · ".join(parts)


def bar(event: Event) -> str:
    """How much of a set of jars is there: `fetching kafka-4.3.1 [######----] 27/45 MB`."""
    done, total = (int(event.detail[name]) for name in ("done_bytes", "total_bytes"))
    filled = BAR_WIDTH * done // max(total, 1)
    drawn = "#" * filled + "-" * (BAR_WIDTH - filled)
    return f"fetching {event.subject} [{drawn}] {done / 1e6:.0f}/{total / 1e6:.0f} MB"


def told(event: Event) -> str | None:
    """An event worth a line of its own; None for the others."""
    detail = event.detail
    if event.kind == "fault":
        how = "" if detail["applied"] == "true" else " DID NOT APPLY"
        return f"fault: {detail['action']} {event.subject}{how}: {detail['evidence']}"
    if event.kind == "exited" and detail["asked"] == "false":
        return f"{event.subject} ended by itself, exit code {detail['code']}; see {detail['log']}"
    words = {
        "phase": f"phase: {event.subject}",
        "healed": f"healed: {event.subject}",
        "iteration": f"iteration {event.subject}",
        "note": f"{event.subject}: {detail.get('text', '')}",
        "started": f"{event.subject} started, pid {detail.get('pid', '?')}",
    }
    return words.get(event.kind)


@contextlib.contextmanager
def display(plan: "Plan") -> Iterator[Callable[[Event], None]]:
    """Hand out the listener that shows events as they come."""
    say_error(
        f"{plan.scenario.name}: {plan.suspect.name} on {plan.scenario.workload},"
        f" {plan.input.records:,} records, seed {plan.seed}"
    )
    picture = Picture(plan)
    if sys.stderr.isatty():
        with _live(picture) as listener:
            yield listener
    else:
        yield _plain(picture)


def _plain(picture: Picture) -> Callable[[Event], None]:
    last = 0.0

    def listener(event: Event) -> None:
        nonlocal last
        picture.take(event)
        line = picture.told(event)
        if line is not None:
            say_error(f"{event.at_s:6.1f} s  {line}")
        elif event.kind in ("progress", "fetch") and _is_due(event, last):
            last = event.at_s
            say_error(picture.line())

    return listener


def _is_due(event: Event, last: float) -> bool:
    every = FETCH_LINE_EVERY_S if event.kind == "fetch" else PROGRESS_LINE_EVERY_S
    return event.at_s - last >= every


@contextlib.contextmanager
def _live(picture: Picture) -> Iterator[Callable[[Event], None]]:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console(stderr=True)

    def panel() -> "Text":
        return Text(picture.line(), style="bold")

    with Live(console=console, refresh_per_second=4, get_renderable=panel) as live:

        def listener(event: Event) -> None:
            picture.take(event)
            line = picture.told(event)
            if line is not None:
                live.console.print(f"{event.at_s:6.1f} s  {line}", markup=False, highlight=False)

        yield listener


def banner(result: TrialResult) -> list[str]:
    """The verdict in words; a loop that breaks says BUG REPRODUCED in red."""
    colour, plain = _colours(result.verdict)
    lines = []
    applied = sum(1 for fault in result.faults if fault.applied)
    if result.verdict is Verdict.BROKEN:
        lines.append(f"{colour}BUG REPRODUCED{plain} in iteration {result.iterations or 1}")
        for finding in result.findings:
            lines.append(f"  {finding.anomaly}: {finding.count}")
            shown = finding.witnesses[:WITNESSES_SHOWN]
            lines += [f"    {witness.sentence}" for witness in shown]
    elif result.verdict is Verdict.HELD:
        lines.append(
            f"{result.iterations} iteration(s), {applied} faults applied,"
            f" {result.counts['input']:,} records in,"
            f" {result.counts['output_committed']:,} out: nothing found"
        )
    else:
        lines += [f"  cannot tell: {reason}" for reason in result.reasons]
    lines.append(f"repeat: {result.repeat}")
    return lines


def _colours(verdict: Verdict) -> tuple[str, str]:
    return (COLOURS[verdict], PLAIN) if sys.stdout.isatty() else ("", "")
