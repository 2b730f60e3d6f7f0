"""SIGSTOP: the victim keeps its connections and memory, and answers nothing. Healed by SIGCONT."""

from onceproof.errors import FaultError
from onceproof.faults.fault import SeenAtOnce
from onceproof.faults.victim import Victim


class Pause(SeenAtOnce):
    def __init__(self, victim: Victim) -> None:
        self._victim = victim

    def inject(self) -> str:
        self._victim.pause()
        if not self._victim.is_paused():
            raise FaultError(f"{self._victim.name} moves on after SIGSTOP")
        return "SIGSTOP; all its processes stand still"

    def heal(self) -> None:
        self._victim.resume()

    def is_healed(self) -> bool:
        return self._victim.is_running() and not self._victim.is_paused()
