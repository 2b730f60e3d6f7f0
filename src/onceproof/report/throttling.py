"""How brokers throttled the suspect: what their answers to Produce say of it, and when.

    history/wire/*.parquet ──▶ Answer: when, whose, how long it must wait, how much it wrote, error

A client that is told to wait so many milliseconds sends nothing to that broker meanwhile.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.compute
import pyarrow.parquet

from onceproof.history.event import Event

API = "Produce"
COLUMNS = ("at_ns", "direction", "api", "instance", "size", "error_code", "throttle_ms")
ROW_S = 5.0


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A request of an instance's was answered; `at_s` counts from the run's start."""

    at_s: float
    instance: int
    throttle_ms: int
    error_code: int


@dataclass(frozen=True, kw_only=True)
class Produced:
    """All Produce of the suspect's instances: what they asked, and what they were told."""

    answers: tuple[Answer, ...] = ()
    bytes_asked: int = 0
    from_s: float = 0.0
    to_s: float = 0.0

    @property
    def throttled(self) -> list[Answer]:
        return [answer for answer in self.answers if answer.throttle_ms > 0]

    @property
    def bytes_per_s(self) -> float:
        return self.bytes_asked / max(self.to_s - self.from_s, 1.0)


NOTHING_PRODUCED = Produced()


def read_produced(run: Mapping[str, Any], history: Path) -> Produced:
    """`run` is run.json: it says when the run began. An older recording tells nothing of this."""
    began_s = run.get("started_unix_s")
    rows = [row for part in sorted((history / "wire").glob("*.parquet")) for row in _rows(part)]
    if began_s is None or not rows:
        return NOTHING_PRODUCED
    rows.sort(key=lambda row: int(row["at_ns"]))
    times = [row["at_ns"] / 1e9 - began_s for row in rows]
    return Produced(
        answers=tuple(
            Answer(
                at_s=at_s,
                instance=row["instance"],
                throttle_ms=row["throttle_ms"] or 0,
                error_code=row["error_code"] or 0,
            )
            for row, at_s in zip(rows, times, strict=True)
            if row["direction"] == "response"
        ),
        bytes_asked=sum(row["size"] or 0 for row in rows if row["direction"] == "request"),
        from_s=times[0],
        to_s=times[-1],
    )


def _rows(part: Path) -> Iterator[dict[str, Any]]:
    table = pyarrow.parquet.read_table(part)
    if not set(COLUMNS) <= set(table.schema.names):
        return
    of_suspects = pyarrow.compute.and_(
        pyarrow.compute.equal(table["api"], API), pyarrow.compute.is_valid(table["instance"])
    )
    yield from table.filter(of_suspects).select(list(COLUMNS)).to_pylist()


def told_by_time(produced: Produced, events: Sequence[Event]) -> Iterator[str]:
    """A line for each ROW_S in which somebody was throttled, with the lag at its end."""
    by_row: dict[int, list[Answer]] = {}
    for answer in produced.answers:
        by_row.setdefault(int(answer.at_s // ROW_S), []).append(answer)
    for place, answers in sorted(by_row.items()):
        waits = [answer.throttle_ms for answer in answers if answer.throttle_ms > 0]
        if not waits:
            continue
        until_s = (place + 1) * ROW_S
        mean = sum(waits) / len(waits)
        yield (
            f"{place * ROW_S:.0f} s to {until_s:.0f} s: {len(waits)} of {len(answers)} answers,"
            f" {mean:,.0f} ms on average, {max(waits):,} ms at most{_lag_at(events, until_s)}"
        )


def _lag_at(events: Sequence[Event], at_s: float) -> str:
    lags = [
        event.detail["remaining"]
        for event in events
        if event.kind == "progress" and event.at_s <= at_s and "remaining" in event.detail
    ]
    return f"; lag {int(lags[-1]):,}" if lags else ""
