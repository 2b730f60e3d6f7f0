"""Recordings that never happened: a few frames each, as the proxy would have recorded them."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

from onceproof.report.story.recording import Batch, Exchange, Frame, Recording, WirePlace, paired
from onceproof.wire.recorder import SCHEMA

BEGAN_S = 1_700_000_000.25
BEGAN_NS = round(BEGAN_S * 1e9)
INPUT, OUTPUT = "onceproof-made-up-s3-in", "onceproof-made-up-s3-out"


def at(topic: str, partition: int, offset: int | None = None, **carried: int) -> WirePlace:
    return WirePlace(topic=topic, partition=partition, offset=offset, **carried)


@dataclass
class MadeUpWire:
    frames: list[Frame] = field(default_factory=list)
    batches: list[Batch] = field(default_factory=list)
    line: int = 1  # the connection of the frames to come
    instance: int | None = 0
    _numbers: int = 0

    def ask(self, at_s: float, api: str, broker: int, **said: Any) -> "MadeUpWire":
        """A request; what is said of `answered_s` and `answer` is its response."""
        answered_s, answer = said.pop("answered_s", None), said.pop("answer", {})
        self._numbers += 1
        known = {
            "broker": broker,
            "connection": self.line,
            "correlation_id": self._numbers,
            "api": api,
            "client_id": "app",
            "instance": self.instance,
        }
        self.frames.append(Frame(at_ns=_ns(at_s), direction="request", **known, **said))
        if answered_s is not None:
            merged = {"error_code": 0, **said, "verdict": None, **answer}
            self.frames.append(
                Frame(at_ns=_ns(answered_s), direction="response", **known, **merged)
            )
        return self

    def fetch(self, at_s: float, begin: int, last: int | None, partition: int = 0) -> "MadeUpWire":
        """`last` None: the answer carried nothing."""
        carried = {"records": 0} if last is None else {"records": 1 + last - begin}
        if last is not None:
            carried["last_offset"] = last
        return self.ask(
            at_s - 0.002,
            "Fetch",
            1,
            places=(at(INPUT, partition, begin),),
            answered_s=at_s,
            answer={"places": (at(INPUT, partition, **carried),)},
        )

    def produce(self, at_s: float, base: int, count: int, **said: Any) -> "MadeUpWire":
        """Written at `base` of the output, 10 ms later, unless what is said has it otherwise."""
        partition = said.pop("partition", 0)
        usual = {
            "records": count,
            "first_sequence": base,
            "places": (at(OUTPUT, partition, records=count),),
            "answered_s": at_s + 0.01,
            "answer": {"places": (at(OUTPUT, partition, base),)},
        }
        return self.ask(at_s, "Produce", 2, **{**usual, **said})

    def batch(self, base: int, count: int, outcome: str = "NONE", **said: Any) -> "MadeUpWire":
        usual: dict[str, Any] = {"partition": 0, "producer_id": 7001, "epoch": 0}
        self.batches.append(
            Batch(
                base_offset=base,
                last_offset=base + count - 1,
                outcome=outcome,
                **{**usual, **said},
            )
        )
        return self

    def recording(self) -> Recording:
        exchanges: Sequence[Exchange] = paired(self.frames)
        return Recording(exchanges=tuple(exchanges), batches=tuple(self.batches))

    def store(self, history: Path) -> None:
        """As the proxy and the judge store it."""
        empty = dict.fromkeys(SCHEMA.names)
        rows = [{**empty, **asdict(frame), "decoded": True} for frame in self.frames]
        for folder in ("wire", "batches"):
            (history / folder).mkdir(parents=True)
        table = pyarrow.Table.from_pylist(rows, schema=SCHEMA)
        pyarrow.parquet.write_table(table, history / "wire" / "wire-00001.parquet")
        batches = pyarrow.Table.from_pylist([asdict(batch) for batch in self.batches])
        pyarrow.parquet.write_table(batches, history / "batches" / "part-0.parquet")


def _ns(at_s: float) -> int:
    return BEGAN_NS + round(at_s * 1e9)


def killed_between_write_and_checkpoint() -> MadeUpWire:
    """in-0@205 is written, the kill comes, it is read and written again; in-1@733 is not."""
    wire = MadeUpWire()
    first = {"producer_id": 7001, "producer_epoch": 0}
    second = {"producer_id": 7002, "producer_epoch": 0}
    wire.fetch(13.7, 180, 240).fetch(13.72, 700, 759, partition=1)
    wire.produce(13.85, 397, 60, **first)
    wire.produce(13.98, 512, 60, partition=1, answered_s=None, **first)
    wire.line = 2
    wire.fetch(18.9, 180, 300).fetch(18.92, 760, 800, partition=1)
    wire.produce(19.05, 950, 120, **second)
    wire.batch(397, 60).batch(950, 120, producer_id=7002)
    return wire
