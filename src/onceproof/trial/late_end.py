"""Finds a moment in which the group does not know yet how the transaction before this one ended.

    T1: EndTxn ──▶ done     T2: … TxnOffsetCommit ──▶ answered, and held at the proxy
                                the position that the group tells is still that before T1

Each transaction's TxnOffsetCommit is held while the position is asked for: it must have moved since
the one before, at once or a moment later. Brokers that make the next transaction wait never show
such a moment; then, after a while, any will do, and the evidence says so.
"""

import contextlib
from collections.abc import Callable

from onceproof.deadline import Deadline, pause
from onceproof.errors import ClusterError, OnceproofError
from onceproof.faults.victim import Victim
from onceproof.faults.wire_aim import Release, WireAim
from onceproof.trial.stage import Stage
from onceproof.trial.watch import Watch
from onceproof.trial.wire_hold import WireHold

LOOKS_S_MAX = 10.0
CONFIRM_S = 0.2
OFFSETS_ANSWERED = WireAim(api="TxnOffsetCommit", direction="response", release=Release.DROP)


class LateEnd:
    def __init__(self, stage: Stage, watch: Watch, victim: Victim) -> None:
        self._stage = stage
        self._watch = watch
        self._victim = victim

    def hold(self, deadline: Deadline, is_over: Callable[[], bool]) -> tuple[WireHold, str]:
        """Returns with the frame held; what shows the moment."""
        looks = Deadline(LOOKS_S_MAX)
        before: int | None = None
        seen = 0
        while True:
            held = WireHold(self._stage.wire, self._watch, OFFSETS_ANSWERED, self._victim)
            held.arm()
            try:
                told = held.wait(deadline, is_over)
                now = self._position()
                if now is not None and now == before and self._stays(now):
                    return held, f"{told}; its group still told {now}, as a transaction before"
                if looks.expired():
                    return held, f"{told}; the end of none of {seen} transactions before was late"
            except BaseException:
                with contextlib.suppress(OnceproofError):  # the proxy may be gone, too
                    held.abandon()
                raise
            before = now
            seen += 1
            held.abandon()

    def _stays(self, position: int) -> bool:
        """A coordinator that is merely a moment behind has moved on by then."""
        pause(CONFIRM_S)
        return self._position() == position

    def _position(self) -> int | None:
        try:
            return sum((self._watch.position() or {}).values())
        except ClusterError:
            return None  # a broker goes: the next answer will tell
