"""A clean stop and a start right after it, as a rolling upgrade does. Nothing is left to heal."""

from onceproof.faults.fault import SeenAtOnce
from onceproof.faults.stop import Stop
from onceproof.faults.victim import Victim


class Restart(SeenAtOnce):
    def __init__(self, victim: Victim) -> None:
        self._victim = victim

    def inject(self) -> str:
        ended = Stop(self._victim).inject()
        self._victim.start()
        return f"{ended}, and was started again"

    def heal(self) -> None:
        """It was started again by `inject`."""

    def is_healed(self) -> bool:
        return self._victim.is_running()
