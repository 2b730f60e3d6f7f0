"""One step of a program: the victim is started if it does not run, and ended cleanly if it does."""

from onceproof.faults.fault import SeenAtOnce
from onceproof.faults.stop import Stop
from onceproof.faults.victim import Victim

TOGGLE = "toggle"
STARTED = "started"


class Toggle(SeenAtOnce):
    def __init__(self, victim: Victim) -> None:
        self._victim = victim

    def inject(self) -> str:
        if self._victim.is_running():
            return f"{Stop(self._victim).inject()}, and stays away"
        self._victim.start()
        return STARTED

    def heal(self) -> None:
        """It stays as it is until the program names it again."""

    def is_healed(self) -> bool:
        return True
