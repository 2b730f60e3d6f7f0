"""What stands in the ledger.

Manifest   how batch b is cut into lanes; committed before any lane of it writes. A batch that is
           written whole has no lanes: its rows and its manifest are one transaction
Token      a lane of batch b is committed; in the same transaction as the lane's rows
Ruling     what an operator decided about a batch that could not be replayed
"""

import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from onceproof.sink.errors import SinkError

FORMAT_VERSION = 2
MANIFEST_PARTITION = 0
MANIFEST_KEY = b"manifest"


class Cut(StrEnum):
    """What makes a lane. In each way the same rows make the same lanes in a replay."""

    KEYS = "keys"  # a stable hash of the key
    PARTITIONS = "partitions"  # the batch's own partitions, told apart by what they read
    WHOLE = "whole"  # no lanes: the driver writes all rows along with the manifest


class Decision(StrEnum):
    ACCEPT = "accept"  # committed lanes stay as they are, missing ones are written
    SKIP = "skip"  # nothing more of the batch is written


def lane_partition(lane: int) -> int:
    return lane + 1


def lane_key(lane: int) -> bytes:
    return f"lane-{lane}".encode()


@dataclass(frozen=True, kw_only=True)
class Manifest:
    query: str  # the streaming query's id, which lives in its checkpoint
    batch: int
    lanes: int
    lanes_ever: int  # the most lanes this sink has used: those beyond `lanes` must stay fenced
    cut: str = Cut.KEYS.value
    # One announcement's own name, also where a batch is taken up again: a task of a driver that was
    # overtaken must not take its successor's manifest of the same batch for its own.
    announcement: str = ""
    sources: tuple[str, ...] = ()  # by partitions: what lane n reads
    predecessors: tuple[str, ...] = ()  # queries this sink was taken over from, the last one last
    rows: int | None = None  # these two of a whole batch only
    digest: str | None = None
    version: int = FORMAT_VERSION

    def to_bytes(self) -> bytes:
        return json.dumps({"kind": "manifest", **asdict(self)}).encode()


@dataclass(frozen=True, kw_only=True)
class Token:
    query: str
    batch: int
    lane: int
    rows: int
    digest: str
    version: int = FORMAT_VERSION

    def to_bytes(self) -> bytes:
        return json.dumps({"kind": "token", **asdict(self)}).encode()


@dataclass(frozen=True, kw_only=True)
class Ruling:
    manifest: Manifest
    decision: str
    by: str
    at: str
    reason: str
    version: int = FORMAT_VERSION

    def to_bytes(self) -> bytes:
        return json.dumps({"kind": "ruling", **asdict(self)}).encode()


Entry = Manifest | Token | Ruling


def ruling_key(ruling: Ruling) -> bytes:
    """Its own key for each: compaction keeps every ruling as a trace."""
    return f"ruling-{ruling.manifest.query}-{ruling.manifest.batch}-{ruling.at}".encode()


def read_entry(value: bytes) -> Entry:
    """The entry in a ledger record; an unknown format version is refused, not guessed at."""
    try:
        data = json.loads(value)
        kind, version = data.pop("kind"), data["version"]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SinkError(f"not an entry of a sink's ledger: {value[:200]!r}") from error
    if version != FORMAT_VERSION:
        writer = "a newer" if version > FORMAT_VERSION else "an older"
        raise SinkError(
            f"ledger entry has format version {version}; this sink knows {FORMAT_VERSION};"
            f" it was written by {writer} sink: use that one"
        )
    if kind == "ruling":
        return Ruling(**{**data, "manifest": _manifest(data["manifest"])})
    return _manifest(data) if kind == "manifest" else Token(**data)


def _manifest(data: dict[str, Any]) -> Manifest:
    listed = {name: tuple(data[name]) for name in ("sources", "predecessors")}
    return Manifest(**{**data, **listed})
