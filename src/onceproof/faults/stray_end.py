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

from collections.abc import Mapping
from typing import Any

from onceproof.errors import FaultError
from onceproof.faults.fault import SeenAtOnce
from onceproof.faults.victim import Victim
from onceproof.faults.wire_steps import END, OFFSETS, WireSteps
from onceproof.wire.control import Wire
from onceproof.wire.gates import Fate


class StrayEnd(SeenAtOnce):
    def __init__(self, victim: Victim, wire: Wire) -> None:
        self._victim = victim
        self._wire = wire
        self._steps = WireSteps(victim, wire, "stray")
        self._stray = ""  # the rule that holds the delayed one

    def inject(self) -> str:
        try:
            return self._inject()
        finally:
            if self._stray:
                # If it was not to be, the held one must not do the harm after all.
                self._wire.release(self._stray, Fate.DROP)
            self._steps.clear()

    def _inject(self) -> str:
        steps = self._steps
        mine = steps.transactional_writer()
        stray = self._stray = steps.hold("end", api=END, committed=True, cut_client=True, **mine)
        steps.release_writer()
        first = steps.await_(stray, "it committed no transaction")
        # Of the held frame there is no response yet: the first for this producer is that of its
        # second try, for which it must connect again.
        retried = steps.hold("retried", api=END, direction="response", **mine)
        steps.await_(retried, "it did not try to commit again")
        written = steps.watch_produce(mine)
        stops = [steps.hold("offsets", api=OFFSETS, **mine), steps.hold("ends", api=END, **mine)]
        self._wire.release(retried)
        steps.await_either(stops, "began no further transaction")
        if not steps.is_written(written):
            raise FaultError(f"{self._victim.name} wrote nothing in its next transaction")
        answered = steps.hold("answered", api=END, direction="response", **mine)
        if self._wire.release(stray) == 0:
            raise FaultError("the delayed EndTxn is gone: its broker closed the connection")
        answer = steps.await_(answered, "the broker did not answer the delayed EndTxn")
        self._victim.kill()
        for stop in stops:
            self._wire.release(stop, Fate.DROP)
        return f"{told(first, answer)}; then SIGKILL"

    def heal(self) -> None:
        self._victim.start()

    def is_healed(self) -> bool:
        return self._victim.is_running()


def told(first: Mapping[str, Any], answer: Mapping[str, Any]) -> str:
    """What became of the delayed one."""
    code = int(answer.get("error_code") or 0)
    became = "accepted: it ended the next one" if code == 0 else f"refused with error {code}"
    kind = "commit" if first.get("committed") else "abort"
    return (
        f"EndTxn({kind}) of {first.get('transactional_id')} (epoch {first.get('producer_epoch')}),"
        f" held and tried again meanwhile, reached broker {answer['broker']} in the next"
        f" transaction and was {became}"
    )
