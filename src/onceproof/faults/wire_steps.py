"""What faults of several steps do on the wire: hold the next frame of a kind, wait for it, go on.

All rules of one fault bear its name; `clear` removes them, whatever has become of them.
"""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from onceproof.deadline import Deadline, pause
from onceproof.errors import FaultError
from onceproof.faults.victim import Victim
from onceproof.wire.control import Wire

STEP_S_MAX = 60.0
LOOK_S = 0.02
QUIET_S = 0.5
WRITTEN_S_MAX = 2.0
END, OFFSETS, PRODUCE = "EndTxn", "TxnOffsetCommit", "Produce"
OUTPUT = "*-out"  # as a trial names its output topic
_numbers = itertools.count(1)


class WireSteps:
    def __init__(self, victim: Victim, wire: Wire, name: str) -> None:
        self._victim = victim
        self._wire = wire
        self._name = f"{name}-{next(_numbers)}"
        self._rules: list[str] = []

    def clear(self) -> None:
        for rule in self._rules:
            self._wire.remove(rule)

    def hold(
        self, part: str, *, direction: str = "request", cut_client: bool = False, **match: Any
    ) -> str:
        """A rule that holds the next such frame; its name."""
        cut = {"cut_client": True} if cut_client else {}
        return self.add(part, {"rule": "hold", "times": 1, **cut}, direction=direction, **match)

    def add(self, part: str, rule: Mapping[str, Any], **match: Any) -> str:
        name = f"{self._name}-{part}"
        whole = {**self._victim.as_sender(), **match}
        self._wire.add({**rule, "name": name, "match": whole})
        self._rules.append(name)
        return name

    def drop(self, rule: str) -> None:
        """It is not waited for any more; what it holds goes on."""
        self._rules.remove(rule)
        self._wire.remove(rule)

    def await_(self, rule: str, otherwise: str) -> dict[str, Any]:
        frame = self._wire.await_applied(rule, Deadline(STEP_S_MAX))
        if frame is None:
            raise FaultError(f"{self._victim.name}: {otherwise}")
        return frame

    def await_either(self, rules: Sequence[str], otherwise: str) -> str:
        """The one that was applied first."""
        waited = Deadline(STEP_S_MAX)
        while not waited.expired():
            for rule in rules:
                if self._wire.await_applied(rule, Deadline(LOOK_S)):
                    return rule
        raise FaultError(f"{self._victim.name} {otherwise}")

    def transactional_writer(self) -> dict[str, Any]:
        """Matches the producer that writes output: a suspect may have several."""
        writer = self.hold("writer", api=PRODUCE, topic=OUTPUT)
        wrote = self.await_(writer, "it wrote no output")
        mine: dict[str, Any] = {"transactional_id": wrote.get("transactional_id")}
        if mine["transactional_id"] is None:
            raise FaultError(f"{self._victim.name} writes without transactions")
        return mine

    def release_writer(self) -> None:
        self._wire.release(f"{self._name}-writer")

    def watch_produce(self, mine: Mapping[str, Any]) -> str:
        return self.add("written", {"rule": "watch"}, direction="response", api=PRODUCE, **mine)

    def is_written(self, watch: str, patience_s: float = WRITTEN_S_MAX) -> bool:
        """Something was, and for a moment nothing more is.

        A transaction that is held already has little time: what is written after its timeout is
        another one's.
        """
        waited, seen = Deadline(patience_s), 0
        while seen == 0 or self._wire.counts(watch)["fitted"] > seen:
            seen = self._wire.counts(watch)["fitted"]
            if waited.expired():
                return False
            pause(QUIET_S if seen else LOOK_S)
        return True
