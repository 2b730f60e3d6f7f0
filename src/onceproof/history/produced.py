"""All Produce of the suspect's instances, as the proxy recorded it: bytes, answers, throttling.

history/wire/*.parquet ──▶ Produce of instances ──▶ answers that throttle or refuse, bytes
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.compute
import pyarrow.parquet

API = "Produce"
COLUMNS = ["at_ns", "direction", "api", "instance", "size", "error_code", "throttle_ms"]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A request of an instance's was answered; `at_s` counts from the run's start."""

    at_s: float
    instance: int
    throttle_ms: int
    error_code: int


@dataclass(frozen=True, kw_only=True)
class Produced:
    """What they asked, and what they were told."""

    answered_s: tuple[float, ...] = ()  # all answers, in order
    marked: tuple[Answer, ...] = ()  # those that throttle or refuse
    bytes_asked: int = 0
    from_s: float = 0.0
    to_s: float = 0.0

    @property
    def throttled(self) -> list[Answer]:
        return [answer for answer in self.marked if answer.throttle_ms > 0]


NOTHING_PRODUCED = Produced()


def read_produced(run: Mapping[str, Any], history: Path) -> Produced:
    """`run` is run.json: it says when the run began. An older recording tells nothing of this."""
    began_s = run.get("started_unix_s")
    parts = [_part(path) for path in sorted((history / "wire").glob("*.parquet"))]
    told = [part for part in parts if part is not None]
    if began_s is None or sum(part.num_rows for part in told) == 0:
        return NOTHING_PRODUCED
    frames = pyarrow.concat_tables(told).sort_by("at_ns")
    answers = frames.filter(pyarrow.compute.equal(frames["direction"], "response"))
    asked = frames.filter(pyarrow.compute.equal(frames["direction"], "request"))
    times = frames["at_ns"]
    return Produced(
        answered_s=tuple(at_ns / 1e9 - began_s for at_ns in answers["at_ns"].to_pylist()),
        marked=tuple(_marked(answers, began_s)),
        bytes_asked=pyarrow.compute.sum(asked["size"]).as_py() or 0,
        from_s=times[0].as_py() / 1e9 - began_s,
        to_s=times[-1].as_py() / 1e9 - began_s,
    )


def _part(path: Path) -> pyarrow.Table | None:
    """Produce of known instances; None: of a recording that says nothing of throttling."""
    if not set(COLUMNS) <= set(pyarrow.parquet.read_schema(path).names):
        return None
    table = pyarrow.parquet.read_table(path, columns=COLUMNS)
    of_suspects = pyarrow.compute.and_(
        pyarrow.compute.equal(table["api"], API), pyarrow.compute.is_valid(table["instance"])
    )
    return table.filter(of_suspects)


def _marked(answers: pyarrow.Table, began_s: float) -> Iterator[Answer]:
    is_marked = pyarrow.compute.or_kleene(
        pyarrow.compute.greater(answers["throttle_ms"], 0),
        pyarrow.compute.not_equal(answers["error_code"], 0),
    )
    for row in answers.filter(is_marked).to_pylist():
        yield Answer(
            at_s=row["at_ns"] / 1e9 - began_s,
            instance=row["instance"],
            throttle_ms=row["throttle_ms"] or 0,
            error_code=row["error_code"] or 0,
        )
