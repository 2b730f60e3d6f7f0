"""SIGKILL: the victim's whole process family is gone at once. Healed by starting it again."""

from onceproof.errors import FaultError
from onceproof.faults.fault import SeenAtOnce
from onceproof.faults.victim import Victim


class Kill(SeenAtOnce):
    def __init__(self, victim: Victim) -> None:
        self._victim = victim

    def inject(self) -> str:
        self._victim.kill()
        if self._victim.is_running():
            raise FaultError(f"{self._victim.name} still runs after SIGKILL")
        return "SIGKILL; no process of it is left"

    def heal(self) -> None:
        self._victim.start()

    def is_healed(self) -> bool:
        return self._victim.is_running()
