"""What happened, in the order it happened: one JSON line an event, on disk before anything else
goes on.

    {"at_s": 12.3, "kind": "fault", "subject": "instance 1", "detail": {"action": "kill"}}

`detail` holds text only, so that the whole log is one flat Spark table (see schemas.EVENTS).

kinds
    fetch     subject = a set of jars; done_bytes, total_bytes
    phase     subject = the phase that begins: start, feed, drain, aftermath, settle, judge, end
    progress  input, output, position, remaining (whole numbers as text): a sample of the run
    started   subject = instance N; pid
    exited    subject = instance N; code, asked ("true" where we ended it ourselves), log
    fault     subject = target; action, applied, evidence
    healed    subject = target; action
    said      what a suspect said of itself (its JSON lines)
    iteration subject = its number
    note      anything a reader of the run should know
"""

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Event:
    at_s: float
    kind: str
    subject: str = ""
    detail: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {
            "at_s": round(self.at_s, 3),
            "kind": self.kind,
            "subject": self.subject,
            "detail": dict(self.detail),
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "Event":
        return Event(
            at_s=data["at_s"], kind=data["kind"], subject=data["subject"], detail=data["detail"]
        )


SETTLE = "settle"  # the phase that begins when the suspect is asked to end
TICK_S = 0.001  # what is written down of a time


class EventLog:
    """Appends events to a file; many threads may write, a listener may look on.

    Invariant: no two events have the same time. Spark knows no other order of them, and a phase
    that began in the same millisecond as the next one must not come after it.
    """

    def __init__(self, path: Path, listener: Callable[[Event], None] | None = None) -> None:
        self._file = path.open("a", encoding="utf-8")
        self._lock = threading.Lock()
        self._started = time.monotonic()
        self._last_s = -TICK_S
        self.began_at = time.time()  # to place records, whose timestamps are wall-clock
        self._listener = listener

    def now_s(self) -> float:
        return time.monotonic() - self._started

    def write(self, kind: str, subject: str = "", /, **detail: object) -> Event:
        text = {name: _as_text(value) for name, value in detail.items()}
        with self._lock:
            self._last_s = round(max(self.now_s(), self._last_s + TICK_S), 3)
            event = Event(at_s=self._last_s, kind=kind, subject=subject, detail=text)
            self._file.write(json.dumps(event.to_json()) + "\n")
            self._file.flush()
        if self._listener is not None:
            self._listener(event)
        return event

    def close(self) -> None:
        with self._lock:
            self._file.close()


def _as_text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def read_events(path: Path) -> list[Event]:
    """All events of a finished or running log; a last line cut short by a crash is left out."""
    events = []
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        if line.endswith("\n"):
            events.append(Event.from_json(json.loads(line)))
    return events


def while_it_ran(events: Sequence[Event]) -> list[Event]:
    """Up to where the suspect was asked to end: what it does and says after that is our doing."""
    settles = (
        at for at, each in enumerate(events) if (each.kind, each.subject) == ("phase", SETTLE)
    )
    return list(events[: next(settles, len(events))])
