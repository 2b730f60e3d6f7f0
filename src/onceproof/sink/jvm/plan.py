"""What LaneWriter.java and WholeWriter.java are told, as JSON, and what they answer. Pure."""

import json
from collections.abc import Mapping
from dataclasses import asdict, fields

from onceproof.sink.cut import Column
from onceproof.sink.digest import NOTHING
from onceproof.sink.lane import MANIFEST_S_MAX
from onceproof.sink.ledger.entries import (
    MANIFEST_KEY,
    MANIFEST_PARTITION,
    Manifest,
    Token,
    lane_key,
    lane_partition,
)
from onceproof.sink.reports import LaneReport
from onceproof.sink.settings import Settings
from onceproof.sink.work import Work

MARKER = 1  # the record that ends a transaction lies behind the token, or the manifest


def plan(
    work: Work,
    lane_of: Mapping[int, int],
    ends: Mapping[int, int],
    *,
    generation: str,
    manifest: bytes,
    announced_at: int,
    columns: Mapping[str, Column],
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
            "columns": {name: asdict(column) for name, column in columns.items()},
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
                    "entry": _token(work, lane).to_bytes().decode(),
                    "transactional_id": work.settings.lane_transactional_id(lane),
                }
                for partition, lane in lane_of.items()
            },
        }
    )


def plan_whole(
    manifest: Manifest,
    settings: Settings,
    end: int,
    *,
    partitions: int,
    generation: str,
    columns: Mapping[str, Column],
    producer: Mapping[str, str],
) -> str:
    """`end`: of the manifests' part of the ledger. May hold secrets."""
    return json.dumps(
        {
            "topic": settings.topic,
            "ledger": settings.ledger_topic,
            "transaction_timeout_ms": settings.transaction_timeout_ms,
            "transactional_id": settings.driver_transactional_id(),
            "announcement": manifest.announcement,
            "partitions": partitions,
            "generation": generation,
            "columns": {name: asdict(column) for name, column in columns.items()},
            "producer": dict(producer),
            "manifest": {
                "partition": MANIFEST_PARTITION,
                "end": end,
                "key": MANIFEST_KEY.decode(),
                "entry": manifest.to_bytes().decode(),  # its rows and digest come with the rows
            },
        }
    )


def _token(work: Work, lane: int) -> Token:
    """Rows and digest are filled in by who has read them."""
    return Token(query=work.query, batch=work.batch, lane=lane, rows=0, digest=NOTHING)


def read_report(text: str) -> tuple[LaneReport, int]:
    """The report, and where that part of the ledger ends by it."""
    told = json.loads(text)
    known = {field.name for field in fields(LaneReport)}
    report = LaneReport(**{name: value for name, value in told.items() if name in known})
    return report, told["entry_offset"] + 1 + MARKER
