"""A commit that is refused once: its client aborts, does the same again, commits, and is killed.

    T0: EndTxn(commit) ──refused by the proxy; no broker sees it
        EndTxn(abort)  ──▶ done
    T1: the same records again, EndTxn(commit) ──▶ done; its answer is held
        SIGKILL: T1 is committed, nothing came after it

What a broker does late of T0's end must not hit T1's (KAFKA-17507).
"""

from onceproof.errors import FaultError
from onceproof.faults.fault import SeenAtOnce
from onceproof.faults.victim import Victim
from onceproof.faults.wire_steps import END, WireSteps
from onceproof.wire.control import Wire
from onceproof.wire.gates import Fate

REFUSAL = 30  # GROUP_AUTHORIZATION_FAILED: nothing that a client would try again, nor end for


class RefusedCommit(SeenAtOnce):
    def __init__(self, victim: Victim, wire: Wire) -> None:
        self._victim = victim
        self._wire = wire
        self._steps = WireSteps(victim, wire, "refused")

    def inject(self) -> str:
        try:
            return self._inject()
        finally:
            self._steps.clear()

    def _inject(self) -> str:
        steps = self._steps
        request = {"api": END, "direction": "request"}
        aborted = steps.add("aborted", {"rule": "watch"}, **request, committed=False)
        refusal = {"rule": "error_response", "code": REFUSAL, "times": 1}
        refused = steps.add("refused", refusal, **request, committed=True)
        first = steps.await_(refused, "it committed no transaction")
        # The proxy's own answer meets no rule: the next one is that of the second try.
        committed = steps.hold("committed", api=END, direction="response", committed=True)
        second = steps.await_(committed, "it did not try again after its commit was refused")
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
