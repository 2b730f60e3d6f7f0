"""A wire's history written by hand, a line a request with its answer."""

import re
from itertools import count
from typing import Any

from onceproof.history.schemas import FRAMES

SECOND = 1_000_000_000
BEGAN_AT_S = 1_000.0  # the clock of the frames when the events' clock says 0
COLUMNS = [each.split()[0].strip("`") for each in re.sub("<.*>", "", FRAMES).split(",")]
Place = tuple[str, int, int | None]


class Wire:
    """`at` is in seconds of the run; the answer comes 10 ms later, unless `lost`."""

    def __init__(self) -> None:
        self.rows: list[tuple[Any, ...]] = []
        self._numbers = count()

    def ask(
        self,
        at: float,
        api: str,
        *,
        error: int = 0,
        lost: bool = False,
        decoded: bool = True,
        instance: int | None = 0,
        answer: dict[str, Any] | None = None,
        **facts: Any,
    ) -> None:
        number = next(self._numbers)
        head = {"api": api, "instance": instance, "correlation_id": number, "decoded": decoded}
        self._add(at, "request", {**head, **facts})
        if not lost:
            told = {**facts, "error_code": error, **(answer or {})}
            self._add(at + 0.01, "response", {**head, **told})

    def init(self, at: float, name: str, epoch: int, *, producer: int = 1, **more: Any) -> None:
        answer = {"producer_id": producer, "producer_epoch": epoch}
        self.ask(
            at,
            "InitProducerId",
            transactional_id=name,
            producer_id=-1,
            producer_epoch=-1,
            **{"answer": answer, **more},
        )

    def produce(self, at: float, place: Place, epoch: int, **more: Any) -> None:
        topic, partition, offset = place
        answer = {"places": [(topic, partition, -1 if more.get("error") else offset)]}
        self._use(at, "Produce", epoch, places=[(topic, partition, None)], answer=answer, **more)

    def offsets(self, at: float, place: Place, epoch: int, **more: Any) -> None:
        """Guarded by member and generation, unless told otherwise."""
        topic, partition, _ = place
        answer = {"places": [(topic, partition, None)]}
        told = {"group": "g", "member": "m-1", "generation": 4, "answer": answer, **more}
        self._use(at, "TxnOffsetCommit", epoch, places=[place], **told)

    def end(self, at: float, epoch: int, *, commit: bool = True, **more: Any) -> None:
        self._use(at, "EndTxn", epoch, committed=commit, **more)

    def _use(
        self, at: float, api: str, epoch: int, *, name: str = "a", producer: int = 1, **more: Any
    ) -> None:
        self.ask(at, api, transactional_id=name, producer_id=producer, producer_epoch=epoch, **more)

    def _add(self, at: float, direction: str, told: dict[str, Any]) -> None:
        row: dict[str, Any] = {
            "at_ns": round((BEGAN_AT_S + at) * SECOND),
            "direction": direction,
            "listener": "suspects",
            "connection": 1,
            "places": [],
            **told,
        }
        self.rows.append(tuple(row.get(name) for name in COLUMNS))
