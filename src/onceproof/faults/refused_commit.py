"""A commit that is refused once: its client aborts, does the same again, commits, and is killed.

    T0: EndTxn(commit) ──refused by the proxy; no broker sees it
        EndTxn(abort)  ──▶ done
    T1: the same records again, EndTxn(commit) ──▶ done; its answer is held
        SIGKILL: T1 is committed, nothing came after it

What a broker does late of T0's end must not hit T1's (KAFKA-17507).
"""

import itertools
from typing import Any

from onceproof.deadline import Deadline
from onceproof.errors import FaultError
from onceproof.faults.victim import Victim
from onceproof.wire.control import Wire
from onceproof.wire.gates import Fate

STEP_S_MAX = 60.0
END = "EndTxn"
REFUSAL = 30  # GROUP_AUTHORIZATION_FAILED: nothing that a client would try again, nor end for
_numbers = itertools.count(1)


class RefusedCommit:
    def __init__(self, victim: Victim, wire: Wire) -> None:
        self._victim = victim
        self._wire = wire
        self._name = f"refused-{next(_numbers)}"
        self._rules: list[str] = []

    def inject(self) -> str:
        try:
            return self._inject()
        finally:
            for rule in self._rules:
                self._wire.remove(rule)

    def _inject(self) -> str:
        aborted = self._add("aborted", {"rule": "watch"}, direction="request", committed=False)
        refusal = {"rule": "error_response", "code": REFUSAL, "times": 1}
        refused = self._add("refused", refusal, direction="request", committed=True)
        first = self._await(refused, "it committed no transaction")
        # The proxy's own answer meets no rule: the next one is that of the second try.
        hold = {"rule": "hold", "times": 1}
        committed = self._add("committed", hold, direction="response", committed=True)
        second = self._await(committed, "it did not try again after its commit was refused")
        self._victim.kill()
        self._wire.release(committed, Fate.DROP)
        if self._wire.counts(aborted)["fitted"] == 0:
            raise FaultError(f"{self._victim.name} did not abort what it could not commit")
        if second.get("error_code"):
            raise FaultError(f"the second commit was refused, too: error {second['error_code']}")
        return (
            f"EndTxn of {first.get('transactional_id')} (epoch {first.get('producer_epoch')}) was"
            f" refused with error {REFUSAL} and aborted; the same again was committed (epoch"
            f" {second.get('producer_epoch')}); then SIGKILL"
        )

    def heal(self) -> None:
        self._victim.start()

    def is_healed(self) -> bool:
        return self._victim.is_running()

    def outcome(self) -> str:
        return ""

    def _add(self, part: str, rule: dict[str, Any], **match: Any) -> str:
        name = f"{self._name}-{part}"
        whole = {**self._victim.as_sender(), "api": END, **match}
        self._wire.add({**rule, "name": name, "match": whole})
        self._rules.append(name)
        return name

    def _await(self, rule: str, otherwise: str) -> dict[str, Any]:
        frame = self._wire.await_applied(rule, Deadline(STEP_S_MAX))
        if frame is None:
            raise FaultError(f"{self._victim.name}: {otherwise}")
        return frame
