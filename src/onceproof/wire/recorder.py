"""Every frame as a row of Parquet, in parts: what a part holds is on disk, whatever dies later.

frames ──▶ rows in memory, ROWS_MAX at most ──▶ wire-00001.parquet, wire-00002.parquet, …
"""

from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

from onceproof.wire.matching import Seen
from onceproof.wire.verdict import Pass, Verdict

ROWS_MAX = 50_000
_PLACE = pyarrow.struct(
    [
        ("topic", pyarrow.string()),
        ("partition", pyarrow.int32()),
        ("offset", pyarrow.int64()),
        ("records", pyarrow.int32()),
        ("last_offset", pyarrow.int64()),
    ]
)
# Fixed: reports and checks read it by these names.
SCHEMA = pyarrow.schema(
    [
        ("at_ns", pyarrow.int64()),
        ("direction", pyarrow.string()),
        ("listener", pyarrow.string()),
        ("broker", pyarrow.int32()),
        ("connection", pyarrow.int64()),
        ("client_id", pyarrow.string()),
        ("instance", pyarrow.int32()),
        ("start", pyarrow.int32()),  # which of the instance's starts
        ("sender", pyarrow.int32()),  # between brokers: whose connection it is
        ("api", pyarrow.string()),
        ("version", pyarrow.int16()),
        ("correlation_id", pyarrow.int32()),
        ("size", pyarrow.int32()),
        ("decoded", pyarrow.bool_()),
        ("verdict", pyarrow.string()),  # null: forwarded at once
        ("transactional_id", pyarrow.string()),
        ("producer_id", pyarrow.int64()),
        ("producer_epoch", pyarrow.int16()),
        ("committed", pyarrow.bool_()),
        ("group", pyarrow.string()),
        ("generation", pyarrow.int32()),
        ("member", pyarrow.string()),
        ("places", pyarrow.list_(_PLACE)),
        ("error_code", pyarrow.int16()),
        ("records", pyarrow.int32()),
        ("first_sequence", pyarrow.int32()),
        ("throttle_ms", pyarrow.int32()),
    ]
)
_OF_FRAME = (
    "listener",
    "broker",
    "connection",
    "client_id",
    "instance",
    "start",
    "sender",
    "api",
    "version",
    "correlation_id",
    "size",
)
_OF_PLACE = tuple(field.name for field in _PLACE)
_OF_FACTS = SCHEMA.names[SCHEMA.names.index("transactional_id") :]


class ParquetRecorder:
    def __init__(self, directory: Path) -> None:
        self._rows: list[tuple[Any, ...]] = []
        self._begin(directory)

    def _begin(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        self._parts = 0
        self.recorded = 0
        self.undecoded = 0

    def turn_to(self, directory: Path) -> None:
        """From now on: another trial begins."""
        self.flush()
        self._begin(directory)

    def record(self, seen: Seen, verdict: Verdict, at_ns: int) -> None:
        facts = seen.told()
        self._rows.append(
            (
                at_ns,
                seen.direction.value,
                *(getattr(seen, name) for name in _OF_FRAME),
                seen.facts is not None,
                None if isinstance(verdict, Pass) else type(verdict).__name__.lower(),
                *(getattr(facts, name) for name in _OF_FACTS),
            )
        )
        self.recorded += 1
        self.undecoded += seen.facts is None
        if len(self._rows) >= ROWS_MAX:
            self.flush()

    def flush(self) -> None:
        """What has been seen so far is on disk."""
        if not self._rows:
            return
        rows, self._rows = self._rows, []
        columns = dict(zip(SCHEMA.names, map(list, zip(*rows, strict=True)), strict=True))
        columns["places"] = [
            [tuple(getattr(place, name) for name in _OF_PLACE) for place in places]
            for places in columns["places"]
        ]
        self._parts += 1
        table = pyarrow.Table.from_pydict(columns, schema=SCHEMA)
        # Under another name until it is whole: a reader never meets half a part.
        part = self._directory / f"wire-{self._parts:05d}.parquet"
        unfinished = part.with_suffix(".unfinished")
        pyarrow.parquet.write_table(table, unfinished)
        unfinished.rename(part)
