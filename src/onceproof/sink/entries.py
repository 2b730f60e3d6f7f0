"""What stands in the ledger: manifests (partition 0) and tokens (partition n + 1 for lane n).

A manifest says how batch b is cut into lanes, before any lane of it writes.
A token says that a lane of batch b is committed; it is in the same transaction as the lane's rows.
"""

import json
from dataclasses import asdict, dataclass

FORMAT_VERSION = 1
MANIFEST_PARTITION = 0
MANIFEST_KEY = b"manifest"


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


def read_entry(value: bytes) -> Manifest | Token:
    """The entry in a ledger record; an unknown format version is refused, not guessed at."""
    data = json.loads(value)
    kind = data.pop("kind")
    if data["version"] != FORMAT_VERSION:
        raise ValueError(
            f"ledger entry has format version {data['version']}; this sink knows {FORMAT_VERSION};"
            " it was written by a newer sink: upgrade this one"
        )
    return Manifest(**data) if kind == "manifest" else Token(**data)
