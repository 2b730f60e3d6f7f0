"""Brings a step to the moment it is aimed at; holds what must not move until the fault is in."""

import contextlib
from collections.abc import Callable

from onceproof.deadline import Deadline
from onceproof.errors import FaultError, OnceproofError
from onceproof.faults.catalog import DISCONNECT
from onceproof.faults.schedule import Aim, Step
from onceproof.faults.victim import Victim
from onceproof.faults.wire_aim import WireAim
from onceproof.suspects.instance import Instance
from onceproof.trial.moments.late_end import LateEnd
from onceproof.trial.moments.mid_output import MidOutput
from onceproof.trial.moments.table_hold import TableHold
from onceproof.trial.moments.wire_hold import WireHold
from onceproof.trial.stage import Stage
from onceproof.trial.watch import Watch

Held = WireHold | TableHold
AIM_S_MAX = 90.0


class Aiming:
    """`is_over`: no output will come any more, so that there is nothing to wait for."""

    def __init__(self, stage: Stage, watch: Watch, is_over: Callable[[], bool]) -> None:
        self._stage = stage
        self._watch = watch
        self._is_over = is_over

    def aim(self, step: Step, victim: Victim, action: str) -> tuple[Held | None, str]:
        """Returns at the moment that is aimed at; what is held then, and what shows it."""
        if step.aim is Aim.AT_ONCE:
            return None, ""
        if isinstance(step.aim, WireAim):
            return self._hold_frame(step, step.aim, victim, action)
        if step.aim is Aim.LATE_END:
            late = LateEnd(self._stage, self._watch, victim)
            return late.hold(Deadline(AIM_S_MAX), self._is_over)
        assert isinstance(victim, Instance)
        if step.aim is Aim.BEFORE_POSITION:
            gate = TableHold(self._stage.table, self._watch, victim)
            return gate, gate.wait(Deadline(AIM_S_MAX), self._is_over)
        aim = MidOutput(self._stage, self._watch)
        return None, aim.hold(victim, Deadline(AIM_S_MAX), self._is_over)

    def _hold_frame(
        self, step: Step, aim: WireAim, victim: Victim, action: str
    ) -> tuple[WireHold, str]:
        held = WireHold(self._stage.wire, self._watch, aim, victim, cut=action == DISCONNECT)
        fresh = victim if step.restart_first and isinstance(victim, Instance) else None
        # Only what the new process sends is meant: the old one may send such a frame once more.
        held.arm(start=None if fresh is None else fresh.starts + 1)
        try:
            if step.restart_first:
                if not victim.stop():
                    raise FaultError(f"{victim.name} did not end when it was asked to")
                victim.start()
            return held, held.wait(Deadline(AIM_S_MAX), self._is_over)
        except BaseException:
            with contextlib.suppress(OnceproofError):  # the proxy may be gone, too
                held.abandon()
            raise
