"""A zombie: cut off from the brokers, it is succeeded by another process; then it comes back.

    the old one  ──cut off──────────────────▶ back: what it had sent arrives now ──▶ ended
    its successor        start ──▶ takes over ──▶ …

What the old one sends when it is back must be refused, or at least do no harm. Whether it sends
anything that writes is counted: a zombie that only sleeps has shown nothing.
"""

import itertools
from typing import Protocol, runtime_checkable

from onceproof.deadline import Deadline, pause
from onceproof.errors import FaultError, OnceproofError
from onceproof.faults.victim import Victim
from onceproof.wire.control import Wire

WRITES = (
    "Produce",
    "AddPartitionsToTxn",
    "AddOffsetsToTxn",
    "TxnOffsetCommit",
    "OffsetCommit",
    "EndTxn",
    "InitProducerId",
)
# How long the old one is given to try what it likes.
HAUNTS_S = 6.0
LOOK_S = 0.1
_numbers = itertools.count(1)


@runtime_checkable
class Succeeded(Victim, Protocol):
    """One that another process can take over from while it still runs."""

    number: int
    starts: int

    def start_successor(self) -> None: ...

    def is_haunted(self) -> bool:
        """Whether the old process still runs."""
        ...

    def end_zombie(self) -> str:
        """How it ended, or that it was ended now."""
        ...


class Usurp:
    def __init__(self, victim: Succeeded, wire: Wire) -> None:
        self._victim = victim
        self._wire = wire
        self._name = f"usurp-{next(_numbers)}"
        self._old = {"instance": victim.number, "start": victim.starts}
        self._held = 0
        self._written: dict[str, int] = {}
        self._end = ""

    def inject(self) -> str:
        for direction in ("request", "response"):
            rule = {"name": f"{self._name}-{direction}", "rule": "partition"}
            self._wire.add({**rule, "match": {**self._old, "direction": direction}})
        try:
            self._victim.start_successor()
        except OnceproofError:
            for direction in ("request", "response"):
                self._wire.remove(f"{self._name}-{direction}")
            raise
        return f"{self._victim.name} is cut off from all brokers; its successor was started"

    def heal(self) -> None:
        """The old one is back; what it had sent goes on its way."""
        for api in WRITES:
            match = {**self._old, "direction": "response", "api": api}
            self._wire.add({"name": f"{self._name}-{api}", "rule": "watch", "match": match})
        for direction in ("request", "response"):
            self._held += self._wire.remove(f"{self._name}-{direction}")["applied"]
        haunts = Deadline(HAUNTS_S)
        while self._victim.is_haunted() and not haunts.expired():
            pause(LOOK_S)
        self._end = self._victim.end_zombie()
        counts = {api: self._wire.remove(f"{self._name}-{api}")["fitted"] for api in WRITES}
        self._written = {api: count for api, count in counts.items() if count}

    def is_healed(self) -> bool:
        return self._victim.is_running() and not self._victim.is_haunted()

    def outcome(self) -> str:
        if not self._written:
            raise FaultError(
                f"the old {self._victim.name} came back ({self._held} frames of it had waited) and"
                " tried to write nothing"
            )
        told = ", ".join(f"{count} {api}" for api, count in self._written.items())
        return f"when it came back it sent {told}, and was answered; {self._end}"
