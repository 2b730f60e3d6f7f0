"""A delayed abort that comes to the broker in the middle of its producer's next transaction.

    T1: EndTxn(commit) ──refused by the proxy; no broker sees it
        EndTxn(abort)  ──held, its connection cut──────────────┐
        the client tries again and succeeds                    │
    T2: Produce … acknowledged                                 │
        AddOffsetsToTxn, or else TxnOffsetCommit ──held        │   (its EndTxn, where it adds none)
        the broker answers it ◀──────────released──────────────┘
        what was held goes on; EndTxn(commit) ──▶ done

Where the broker takes it for T2's own, T2's output is aborted, and what it adds afterwards, its
offsets, is committed: lost (KAFKA-17754). It is refused where each transaction has an epoch of its
own.

librdkafka adds partitions by a timer, offsets when it is told to. Held as they come, these would
keep the output waiting behind them on the same connection: so until it is written they are put off
by an error after which any client asks again.
"""

from collections.abc import Mapping
from typing import Any

from onceproof.errors import FaultError
from onceproof.faults.fault import SeenAtOnce
from onceproof.faults.stray_end import told
from onceproof.faults.victim import Victim
from onceproof.faults.wire_steps import END, OFFSETS, STEP_S_MAX, WireSteps
from onceproof.wire.control import Wire
from onceproof.wire.gates import Fate

REFUSAL = 120  # TRANSACTION_ABORTABLE: any client aborts, and goes on
ADD_OFFSETS = "AddOffsetsToTxn"  # not sent where the broker adds by itself (KIP-890)
BUSY = 51  # CONCURRENT_TRANSACTIONS


class StrayAbort(SeenAtOnce):
    def __init__(self, victim: Victim, wire: Wire) -> None:
        self._wire = wire
        self._steps = WireSteps(victim, wire, "stray-abort")
        self._stray = ""  # the rule that holds the delayed one

    def inject(self) -> str:
        try:
            return self._inject()
        finally:
            if self._stray:
                self._wire.release(self._stray, Fate.DROP)
            self._steps.clear()

    def _inject(self) -> str:
        steps = self._steps
        mine = steps.transactional_writer()
        refusal = {"rule": "error_response", "code": REFUSAL, "times": 1}
        refused = steps.add("refused", refusal, api=END, committed=True, **mine)
        stray = self._stray = steps.hold("end", api=END, committed=False, cut_client=True, **mine)
        steps.release_writer()
        steps.await_(refused, "it committed no transaction")
        first = steps.await_(stray, "it did not abort what it could not commit")
        retried = steps.hold("retried", api=END, direction="response", **mine)
        steps.await_(retried, "it did not try to abort again")
        stops = self._stop_behind_its_output(retried, mine)
        answered = steps.hold("answered", api=END, direction="response", **mine)
        if self._wire.release(stray) == 0:
            raise FaultError("the delayed EndTxn is gone: its broker closed the connection")
        answer = steps.await_(answered, "the broker did not answer the delayed EndTxn")
        self._wire.release(answered, Fate.DROP)
        ended = steps.hold("ended", api=END, direction="response", committed=True, **mine)
        for stop in stops:
            steps.drop(stop)
        end = steps.await_(ended, "it did not commit its next transaction")
        self._wire.release(ended)
        return f"{told(first, answer)}; its own commit was answered with {end.get('error_code')}"

    def _stop_behind_its_output(self, retried: str, mine: Mapping[str, Any]) -> list[str]:
        """T2 has written, and has not added its offsets: the rules that hold it there.

        The one that holds a frame comes last: once it is dropped, T2 goes on, past the others. Who
        keeps its position among its output adds no offsets, and is held before its commit.
        """
        steps = self._steps
        written = steps.watch_produce(mine)
        behind = [
            steps.hold("offsets", api=OFFSETS, **mine),
            steps.hold("commits", api=END, committed=True, **mine),
        ]
        busy = {"rule": "error_response", "code": BUSY}
        put_off = steps.add("put-off", busy, api=ADD_OFFSETS, **mine)
        self._wire.release(retried)
        if not steps.is_written(written, patience_s=STEP_S_MAX):
            raise FaultError("it wrote nothing in its next transaction")
        stops = [*behind, steps.hold("adds", api=ADD_OFFSETS, **mine)]
        steps.drop(put_off)
        met = steps.await_either(stops, "neither added offsets to its next transaction nor ended")
        return sorted(stops, key=lambda stop: stop == met)

    def heal(self) -> None:
        pass

    def is_healed(self) -> bool:
        return True
