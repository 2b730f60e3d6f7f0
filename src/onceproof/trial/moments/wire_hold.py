"""Holds one frame of a victim at the proxy while a fault is injected, and lets it go then."""

import itertools
from collections.abc import Callable
from typing import NoReturn

from onceproof.deadline import Deadline
from onceproof.errors import FaultError
from onceproof.faults.victim import Victim
from onceproof.faults.wire_aim import Release, WireAim
from onceproof.trial.watch import Watch
from onceproof.wire.control import Wire
from onceproof.wire.gates import Fate

LOOK_S = 0.05
_numbers = itertools.count(1)


class WireHold:
    """One frame: `arm`, `wait`. After that either `let_go`, twice, or `abandon` must follow."""

    def __init__(
        self, wire: Wire, watch: Watch, aim: WireAim, victim: Victim, *, cut: bool = False
    ) -> None:
        """`cut`: the frame is to be lost with its connection, and with nothing else."""
        self._wire = wire
        self._watch = watch
        self._aim = aim
        self._victim = victim
        self._cut = cut
        self._name = f"aim-{next(_numbers)}"

    @property
    def is_late(self) -> bool:
        """Whether the frame goes on its way only when its sender's successor is there."""
        return self._aim.release is Release.LATE and not self._cut

    def arm(self, start: int | None = None) -> None:
        """`start`: only frames of that start of an instance are meant."""
        of_start = {} if start is None else {"start": start}
        match = {**self._victim.as_sender(), **of_start, **self._aim.match()}
        self._wire.add({"name": self._name, "rule": "hold", "times": 1, "match": match})

    def wait(self, deadline: Deadline, is_over: Callable[[], bool]) -> str:
        """Returns with the frame held; what shows it."""
        while True:
            frame = self._wire.await_applied(self._name, Deadline(LOOK_S))
            if frame is not None:
                self._require_work_left(is_over)
                return self._told(frame)
            self._watch.turn()
            if is_over() or deadline.expired():
                self._give_up()

    def _require_work_left(self, is_over: Callable[[], bool]) -> None:
        """Looked at while nothing moves: a suspect that is done is not hit by anything."""
        self._watch.sample()
        if is_over():
            raise FaultError(f"{self._aim} came when everything was processed: nothing was hit")

    def let_go(self, *, is_back: bool) -> None:
        """Called after the fault was injected, and again when the victim is back.

        FaultError if a request was to reach the broker and is gone: its connection was closed. (A
        response whose client was killed is gone by then as well, and nobody misses it.)
        """
        if self.is_late != is_back:
            return
        fate = self._fate()
        released = self._wire.release(self._name, fate)
        self._wire.remove(self._name)
        is_missed = fate is Fate.CUT or (fate is Fate.FORWARD and self._aim.direction == "request")
        if is_missed and released == 0:
            raise FaultError(f"{self._aim} was held, but its connection was closed meanwhile")

    def _fate(self) -> Fate:
        if self._cut:
            return Fate.CUT
        return Fate.DROP if self._aim.release is Release.DROP else Fate.FORWARD

    def abandon(self) -> None:
        """The fault could not be injected: all goes on as if nothing had been held."""
        self._wire.remove(self._name)

    def _give_up(self) -> NoReturn:
        counts = self._wire.remove(self._name)
        if counts["undecoded"]:
            raise FaultError(
                f"{counts['undecoded']} frames could not be decoded: whether one was"
                f" {self._aim} of {self._victim.name} cannot be told"
            )
        raise FaultError(
            f"{self._aim} of {self._victim.name} was not seen; {counts['fitted']} frames fitted"
        )

    def _told(self, frame: dict[str, object]) -> str:
        named = ("transactional_id", "producer_epoch", "group", "correlation_id")
        facts = ", ".join(f"{name} {frame[name]}" for name in named if name in frame)
        return f"{self._aim} to broker {frame['broker']} held at the proxy ({facts})"
