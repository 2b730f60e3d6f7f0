"""What stands in the ledger.

Manifest   how batch b is cut into lanes; committed before any lane of it writes. A batch that is
           written whole has no lanes: its rows and its manifest are one transaction
Token      a lane of batch b is committed; in the same transaction as the lane's rows
Ruling     what an operator decided about a batch that could not be replayed
"""

import json
from dataclasses import asdict, dataclass
from enum import StrEnum

FORMAT_VERSION = 1
MANIFEST_PARTITION = 0
MANIFEST_KEY = b"manifest"


class Cut(StrEnum):
    """What makes a lane. In each way the same rows make the same lanes in a replay."""

    KEYS = "keys"  # a stable hash of the key
    PARTITIONS = "partitions"  # the batch's own partitions, told apart by their contents
    WHOLE = "whole"  # no lanes: the driver writes all rows along with the manifest


class Decision(StrEnum):
    ACCEPT = "accept"  # committed lanes stay as they are, missing ones are written
    SKIP = "skip"  # nothing more of the batch is written


def lane_partition(lane: int) -> int:
    return lane + 1


def lane_key(lane: int) -> bytes:
    return f"lane-{lane}".encode()


def ruling_key(batch: int) -> bytes:
    """Its own key for each batch: compaction keeps every ruling as a trace."""
    return f"ruling-{batch}".encode()


@dataclass(frozen=True, kw_only=True)
class Manifest:
    query: str  # the streaming query's id, which lives in its checkpoint
    batch: int
    lanes: int
    lanes_ever: int  # the most lanes this sink has used: those beyond `lanes` must stay fenced
    cut: str = Cut.KEYS.value
    # One announcement's own name: a task of a driver whose manifest was never committed must not
    # take its successor's manifest of the same batch, which may be cut otherwise, for its own.
    announcement: str = ""
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


def read_entry(value: bytes) -> Entry:
    """The entry in a ledger record; an unknown format version is refused, not guessed at."""
    data = json.loads(value)
    kind = data.pop("kind")
    if data["version"] != FORMAT_VERSION:
        raise ValueError(
            f"ledger entry has format version {data['version']}; this sink knows {FORMAT_VERSION};"
            " it was written by a newer sink: upgrade this one"
        )
    if kind == "ruling":
        return Ruling(**{**data, "manifest": Manifest(**data["manifest"])})
    return Manifest(**data) if kind == "manifest" else Token(**data)
