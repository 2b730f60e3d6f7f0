"""The wire's recording and the log's batches, as a finished run directory holds them.

    history/wire/*.parquet  ──▶ frames ──▶ exchanges: a request, and its response if there was one
    history/batches/        ──▶ batches of the output log, with outcome and marker

Read by column names: an older recording lacks some, and what it lacks is None.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.compute
import pyarrow.parquet

# What a record's story is made of; heartbeats, metadata and the like are not read at all.
APIS = (
    "Fetch",
    "Produce",
    "OffsetFetch",
    "OffsetCommit",
    "TxnOffsetCommit",
    "InitProducerId",
    "EndTxn",
    "WriteTxnMarkers",
)
# Some ten seconds of reading. A longer recording is for Spark, not for a report.
FRAMES_MAX = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class WirePlace:
    topic: str
    partition: int
    offset: int | None = None
    records: int | None = None
    last_offset: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One row of the recording. A response has what its request said, and its own besides."""

    at_ns: int
    direction: str
    broker: int
    connection: int
    correlation_id: int
    api: str
    client_id: str | None = None
    instance: int | None = None
    verdict: str | None = None  # what the proxy did to it; None: forwarded at once
    transactional_id: str | None = None
    producer_id: int | None = None
    producer_epoch: int | None = None
    committed: bool | None = None
    group: str | None = None
    places: tuple[WirePlace, ...] = ()
    error_code: int | None = None
    records: int | None = None
    first_sequence: int | None = None

    def at(self, topic: str, partition: int) -> WirePlace | None:
        return next(
            (each for each in self.places if (each.topic, each.partition) == (topic, partition)),
            None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    request: Frame
    response: Frame | None = None

    @property
    def api(self) -> str:
        return self.request.api

    @property
    def at_ns(self) -> int:
        return self.request.at_ns

    @property
    def answered_ns(self) -> int:
        """When its answer came; of one without, when it was asked."""
        return self.request.at_ns if self.response is None else self.response.at_ns

    @property
    def error_code(self) -> int | None:
        return None if self.response is None else self.response.error_code


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A batch of the output log (see history/schemas.py)."""

    partition: int
    base_offset: int
    last_offset: int
    producer_id: int
    epoch: int
    outcome: str
    marker_offset: int | None = None


@dataclass(frozen=True, kw_only=True)
class Recording:
    exchanges: tuple[Exchange, ...]  # in the order they were asked
    batches: tuple[Batch, ...] = ()
    is_too_long: bool = False  # and so nothing of it was kept

    def of(self, *apis: str) -> Iterator[Exchange]:
        return (each for each in self.exchanges if each.api in apis)

    def batch_at(self, partition: int, offset: int) -> Batch | None:
        """Batches do not overlap, so there is one at most."""
        return next(
            (
                each
                for each in self.batches
                if each.partition == partition and each.base_offset <= offset <= each.last_offset
            ),
            None,
        )


def read_recording(history: Path) -> Recording | None:
    """None: nothing was recorded."""
    parts = sorted((history / "wire").glob("*.parquet"))
    frames: list[Frame] = []
    for part in parts:
        frames += _frames(part)
        if len(frames) > FRAMES_MAX:
            return Recording(exchanges=(), is_too_long=True)
    if not frames:
        return None
    return Recording(exchanges=tuple(paired(frames)), batches=tuple(_batches(history / "batches")))


def paired(frames: Iterable[Frame]) -> list[Exchange]:
    """Each request with its response, which has its number on the same connection. Pure."""
    open_requests: dict[tuple[int, int, int], Frame] = {}
    exchanges = []
    for frame in sorted(frames, key=lambda frame: frame.at_ns):
        key = (frame.broker, frame.connection, frame.correlation_id)
        if frame.direction == "request":
            unanswered = open_requests.pop(key, None)
            if unanswered is not None:
                exchanges.append(Exchange(request=unanswered))
            open_requests[key] = frame
        elif key in open_requests:
            exchanges.append(Exchange(request=open_requests.pop(key), response=frame))
    exchanges += [Exchange(request=frame) for frame in open_requests.values()]
    return sorted(exchanges, key=lambda each: each.at_ns)


def _frames(part: Path) -> Iterator[Frame]:
    table = pyarrow.parquet.read_table(part)
    told = table.filter(pyarrow.compute.is_in(table["api"], pyarrow.array(APIS)))
    for row in told.select(_known(Frame, told.schema.names)).to_pylist():
        row["places"] = tuple(_place(place) for place in row.get("places") or ())
        yield Frame(**row)


def _place(row: Mapping[str, Any]) -> WirePlace:
    return WirePlace(**{name: row[name] for name in _known(WirePlace, row)})


def _batches(folder: Path) -> Iterator[Batch]:
    for part in sorted(folder.glob("*.parquet")):
        table = pyarrow.parquet.read_table(part)
        for row in table.select(_known(Batch, table.schema.names)).to_pylist():
            yield Batch(**row)


def _known(noun: Any, names: Iterable[str]) -> Sequence[str]:
    there = set(names)
    return [each.name for each in fields(noun) if each.name in there]
