"""Holds one frame of an instance at the proxy while a fault is injected, and lets it go then."""

import itertools
from collections.abc import Callable
from typing import NoReturn

from onceproof.deadline import Deadline
from onceproof.errors import FaultError
from onceproof.faults.wire_aim import Release, WireAim
from onceproof.suspects.instance import Instance
from onceproof.trial.watch import Watch
from onceproof.wire.control import Wire

LOOK_S = 0.05
_numbers = itertools.count(1)


class WireHold:
    """One frame. After `hold` either `let_go`, twice, or `abandon` must follow."""

    def __init__(self, wire: Wire, watch: Watch, aim: WireAim, instance: Instance) -> None:
        self._wire = wire
        self._watch = watch
        self._aim = aim
        self._instance = instance
        self._name = f"aim-{next(_numbers)}"

    @property
    def is_late(self) -> bool:
        """Whether the frame goes on its way only when its sender's successor is there."""
        return self._aim.release is Release.LATE

    def hold(self, deadline: Deadline, is_over: Callable[[], bool]) -> str:
        """Returns with the frame held; what shows it."""
        match = {**self._instance.on_the_wire(), **self._aim.match()}
        self._wire.add({"name": self._name, "rule": "hold", "times": 1, "match": match})
        while True:
            frame = self._wire.await_applied(self._name, Deadline(LOOK_S))
            if frame is not None:
                return self._told(frame)
            self._watch.turn()
            if is_over() or deadline.expired():
                self._give_up()

    def let_go(self, *, is_back: bool) -> None:
        """Called after the fault was injected, and again when the victim is back.

        FaultError if a request was to reach the broker and is gone: its connection was closed. (A
        response whose client was killed is gone by then as well, and nobody misses it.)
        """
        if self.is_late != is_back:
            return
        forward = self._aim.release is not Release.DROP
        released = self._wire.release(self._name, forward=forward)
        self._wire.remove(self._name)
        if forward and self._aim.direction == "request" and released == 0:
            raise FaultError(
                f"{self._aim} was held, but its broker closed the connection meanwhile"
            )

    def abandon(self) -> None:
        """The fault could not be injected: all goes on as if nothing had been held."""
        self._wire.remove(self._name)

    def _give_up(self) -> NoReturn:
        counts = self._wire.remove(self._name)
        if counts["undecoded"]:
            raise FaultError(
                f"{counts['undecoded']} frames could not be decoded: whether one was"
                f" {self._aim} of {self._instance.name} cannot be told"
            )
        raise FaultError(
            f"{self._aim} of {self._instance.name} was not seen; {counts['fitted']} frames fitted"
        )

    def _told(self, frame: dict[str, object]) -> str:
        named = ("transactional_id", "producer_epoch", "group", "correlation_id")
        facts = ", ".join(f"{name} {frame[name]}" for name in named if name in frame)
        return f"{self._aim} to broker {frame['broker']} held at the proxy ({facts})"
