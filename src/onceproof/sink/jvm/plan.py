"""What LaneWriter.java is told, as JSON, and what it answers. Pure."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields

from onceproof.sink.digest import NOTHING
from onceproof.sink.lane import MANIFEST_S_MAX
from onceproof.sink.ledger.entries import MANIFEST_PARTITION, Token, lane_key, lane_partition
from onceproof.sink.reports import LaneReport
from onceproof.sink.work import Work

MARKER = 1  # the record that ends a transaction lies behind the token


def plan(
    work: Work,
    lane_of: Mapping[int, int],
    ends: Mapping[int, int],
    *,
    generation: str,
    manifest: bytes,
    announced_at: int,
    columns: Sequence[str],
    producer: Mapping[str, str],
    reader: Mapping[str, str],
) -> str:
    """`ends`: where each lane's part of the ledger ended. `generation`: what was fenced ahead by
    another one is of no use. May hold secrets.
    """
    return json.dumps(
        {
            "topic": work.settings.topic,
            "ledger": work.settings.ledger_topic,
            "transaction_timeout_ms": work.settings.transaction_timeout_ms,
            "generation": generation,
            "columns": {name: place for place, name in enumerate(columns)},
            "producer": dict(producer),
            "reader": dict(reader),
            "manifest": {
                "partition": MANIFEST_PARTITION,
                "offset": announced_at,
                "value": manifest.decode(),
                "wait_ms": int(MANIFEST_S_MAX * 1000),
            },
            "lanes": {
                str(partition): {
                    "lane": lane,
                    "partition": lane_partition(lane),
                    "end": ends[lane],
                    "key": lane_key(lane).decode(),
                    "token": _token(work, lane).to_bytes().decode(),
                    "transactional_id": work.settings.lane_transactional_id(lane),
                }
                for partition, lane in lane_of.items()
            },
        }
    )


def _token(work: Work, lane: int) -> Token:
    """Rows and digest are filled in by who has read them."""
    return Token(query=work.query, batch=work.batch, lane=lane, rows=0, digest=NOTHING)


def read_report(text: str) -> tuple[LaneReport, int]:
    """The report, and where the lane's part of the ledger ends by it."""
    told = json.loads(text)
    known = {field.name for field in fields(LaneReport)}
    report = LaneReport(**{name: value for name, value in told.items() if name in known})
    return report, told["token_offset"] + 1 + MARKER
