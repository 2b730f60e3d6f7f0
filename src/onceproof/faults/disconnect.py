"""The connection of a frame is cut, and the frame is lost with it; its client may connect again.

What is cut is the frame that the step aims at: it is held at the proxy until then.
"""

from onceproof.faults.fault import SeenAtOnce
from onceproof.faults.victim import Victim


class Disconnect(SeenAtOnce):
    def __init__(self, victim: Victim) -> None:
        self._victim = victim

    def inject(self) -> str:
        return f"a connection of {self._victim.name} is cut"

    def heal(self) -> None:
        """Its client connects again by itself."""

    def is_healed(self) -> bool:
        return self._victim.is_running()
