"""SIGTERM: the victim may end its work in order. Healed by starting it again."""

from onceproof.errors import FaultError
from onceproof.faults.fault import SeenAtOnce
from onceproof.faults.victim import Victim


class Stop(SeenAtOnce):
    def __init__(self, victim: Victim) -> None:
        self._victim = victim

    def inject(self) -> str:
        clean = self._victim.stop()
        if not clean:
            raise FaultError(f"{self._victim.name} did not end on SIGTERM and was killed")
        return "SIGTERM; it ended by itself"

    def heal(self) -> None:
        self._victim.start()

    def is_healed(self) -> bool:
        return self._victim.is_running()
