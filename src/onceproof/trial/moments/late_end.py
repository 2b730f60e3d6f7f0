"""Finds a moment in which the group does not know yet how the transaction before this one ended.

    T1: EndTxn ──▶ done     T2: … TxnOffsetCommit ──▶ answered, and held at the proxy
                                the position that the group tells is still that before T1

Each transaction's TxnOffsetCommit is held while the position is asked for: it must have moved since
the one before, at once or a moment later. Brokers that make the next transaction wait never show
such a moment. Once a part of the offsets log has been loaded for a while, and no end was late for
it, any will do; and where none was loaded nothing was shown, which a scenario's `seen` asks for.
"""

import contextlib
from collections.abc import Callable

from onceproof.cluster.loading import Loading, loadings
from onceproof.deadline import Deadline, pause
from onceproof.errors import ClusterError, OnceproofError
from onceproof.faults.victim import Victim
from onceproof.faults.wire_aim import Release, WireAim
from onceproof.trial.moments.wire_hold import WireHold
from onceproof.trial.stage import Stage
from onceproof.trial.watch import Watch

LOOKS_S_MAX = 10.0
CONFIRM_S = 0.2
LOADING_S_MIN = 0.5  # 30 ms were never enough, 100 ms were: see docs/bugs.md
FAULT_BEFORE_S = 2.0  # an older one is not of its making, and may never have ended
LOOKS_WHILE_LOADING = 5  # while it lasts; the second would be late where any is
LOOKED_AT = "the ends of transactions were looked at"
OFFSETS_ANSWERED = WireAim(api="TxnOffsetCommit", direction="response", release=Release.DROP)


class LateEnd:
    def __init__(self, stage: Stage, watch: Watch, victim: Victim) -> None:
        self._stage = stage
        self._watch = watch
        self._victim = victim
        self._began_unix_s = self._now_unix_s()
        self._looks_while_loading = 0

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
                    self._note("one was late")
                    return held, f"{told}; its group still told {now}, as a transaction before"
                in_time = f"the end of none of {seen} transactions before was late"
                if loading := self._loading_that_will_do():
                    self._note(f"while {loading}: {in_time}")
                    return held, f"{told}; {in_time}, though {loading}"
                if looks.expired():
                    return held, f"{told}; {in_time}"
            except BaseException:
                with contextlib.suppress(OnceproofError):  # the proxy may be gone, too
                    held.abandon()
                raise
            before = now
            seen += 1
            held.abandon()

    def _note(self, text: str) -> None:
        self._stage.events.write("note", self._victim.name, text=f"{LOOKED_AT}: {text}")

    def _loading_that_will_do(self) -> str:
        """Over, and this is the first transaction after it; or it goes on, and some have ended."""
        name, longest = self._longest_loading()
        now = self._now_unix_s()
        if longest is None or longest.lasted_s(now) < LOADING_S_MIN:
            return ""
        if longest.until_unix_s is None:
            self._looks_while_loading += 1
            if self._looks_while_loading < LOOKS_WHILE_LOADING:
                return ""
        verb = "loads" if longest.until_unix_s is None else "had loaded"
        return f"{name} {verb} {longest.partition}, for {longest.lasted_s(now):.1f} s"

    def _longest_loading(self) -> tuple[str, Loading | None]:
        """Of those that began since we look, or with the fault just before."""
        found = [
            (broker.name, each)
            for broker in self._stage.brokers.values()
            for each in loadings(broker.log.read_text(errors="replace").splitlines())
            if each.since_unix_s >= self._began_unix_s - FAULT_BEFORE_S
        ]
        now = self._now_unix_s()
        return max(found, key=lambda each: each[1].lasted_s(now), default=("", None))

    def _now_unix_s(self) -> float:
        return self._stage.events.began_at + self._stage.events.now_s()

    def _stays(self, position: int) -> bool:
        """A coordinator that is merely a moment behind has moved on by then."""
        pause(CONFIRM_S)
        return self._position() == position

    def _position(self) -> int | None:
        try:
            return sum((self._watch.position() or {}).values())
        except ClusterError:
            return None  # a broker goes: the next answer will tell
