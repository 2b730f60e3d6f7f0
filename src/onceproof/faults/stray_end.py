"""A delayed EndTxn that comes to the broker in the middle of its producer's next transaction.

    T1: EndTxn(commit) ──held, its connection cut──────────────┐
        the client tries again and succeeds                    │
    T2: Produce … acknowledged                                 │
        TxnOffsetCommit, or else EndTxn ──held                 │
        the broker answers it ◀──────────released──────────────┘
        SIGKILL: T2 never ends

Where the broker takes it for T2's own, T2's output is committed without its offsets (KAFKA-17754).
It is refused where each transaction has an epoch of its own.
"""

import itertools
from collections.abc import Mapping
from typing import Any

from onceproof.deadline import Deadline
from onceproof.errors import FaultError
from onceproof.faults.victim import Victim
from onceproof.wire.control import Wire
from onceproof.wire.gates import Fate

STEP_S_MAX = 60.0
LOOK_S = 0.02
END, OFFSETS, PRODUCE = "EndTxn", "TxnOffsetCommit", "Produce"
OUTPUT = "*-out"  # as a trial names its output topic
_numbers = itertools.count(1)


class StrayEnd:
    def __init__(self, victim: Victim, wire: Wire) -> None:
        self._victim = victim
        self._wire = wire
        self._name = f"stray-{next(_numbers)}"
        self._rules: list[str] = []
        self._stray = ""  # the rule that holds the delayed one

    def inject(self) -> str:
        try:
            return self._inject()
        finally:
            if self._stray:
                # If it was not to be, the held one must not do the harm after all.
                self._wire.release(self._stray, Fate.DROP)
            for rule in self._rules:
                self._wire.remove(rule)

    def _inject(self) -> str:
        # A suspect may have several producers: one that writes output is meant.
        writer = self._hold("writer", api=PRODUCE, topic=OUTPUT)
        wrote = self._await(writer, "it wrote no output")
        mine: dict[str, Any] = {"transactional_id": wrote.get("transactional_id")}
        if mine["transactional_id"] is None:
            raise FaultError(f"{self._victim.name} writes without transactions")
        stray = self._stray = self._hold("end", api=END, committed=True, cut_client=True, **mine)
        self._wire.release(writer)
        first = self._await(stray, "it committed no transaction")
        # Of the held frame there is no response yet: the first for this producer is that of its
        # second try, for which it must connect again.
        retried = self._hold("retried", api=END, direction="response", **mine)
        self._await(retried, "it did not try to commit again")
        written = self._watch_produce(mine)
        stops = [self._hold("offsets", api=OFFSETS, **mine), self._hold("ends", api=END, **mine)]
        self._wire.release(retried)
        self._await_either(stops)
        self._await_written(written)
        answered = self._hold("answered", api=END, direction="response", **mine)
        if self._wire.release(stray) == 0:
            raise FaultError("the delayed EndTxn is gone: its broker closed the connection")
        answer = self._await(answered, "the broker did not answer the delayed EndTxn")
        self._victim.kill()
        for stop in stops:
            self._wire.release(stop, Fate.DROP)
        return _told(first, answer)

    def heal(self) -> None:
        self._victim.start()

    def is_healed(self) -> bool:
        return self._victim.is_running()

    def outcome(self) -> str:
        return ""

    def _hold(self, part: str, *, direction: str = "request", **more: Any) -> str:
        """A rule that holds the next such frame; its name."""
        cut = {"cut_client": True} if more.pop("cut_client", False) else {}
        match = {**self._victim.as_sender(), "direction": direction, **more}
        return self._add(part, {"rule": "hold", "times": 1, "match": match, **cut})

    def _watch_produce(self, mine: Mapping[str, Any]) -> str:
        match = {**self._victim.as_sender(), **mine, "direction": "response", "api": PRODUCE}
        return self._add("written", {"rule": "watch", "match": match})

    def _add(self, part: str, rule: Mapping[str, Any]) -> str:
        name = f"{self._name}-{part}"
        self._wire.add({**rule, "name": name})
        self._rules.append(name)
        return name

    def _await(self, rule: str, otherwise: str) -> dict[str, Any]:
        frame = self._wire.await_applied(rule, Deadline(STEP_S_MAX))
        if frame is None:
            raise FaultError(f"{self._victim.name}: {otherwise}")
        return frame

    def _await_either(self, rules: list[str]) -> None:
        waited = Deadline(STEP_S_MAX)
        while not waited.expired():
            if any(self._wire.await_applied(rule, Deadline(LOOK_S)) for rule in rules):
                return
        raise FaultError(f"{self._victim.name} began no further transaction")

    def _await_written(self, watch: str) -> None:
        waited = Deadline(STEP_S_MAX)
        while self._wire.counts(watch)["fitted"] == 0:
            if waited.expired():
                raise FaultError(f"{self._victim.name} wrote nothing in its next transaction")
            # Asking is a round trip: no pause is needed.


def _told(first: Mapping[str, Any], answer: Mapping[str, Any]) -> str:
    code = int(answer.get("error_code") or 0)
    became = "accepted: it ended the next one" if code == 0 else f"refused with error {code}"
    return (
        f"EndTxn of {first.get('transactional_id')} (epoch {first.get('producer_epoch')}), held"
        f" and tried again meanwhile, reached broker {answer['broker']} in the next transaction and"
        f" was {became}; then SIGKILL"
    )
