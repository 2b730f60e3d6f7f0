"""A broker's machine is off the network, as its clients see it: what they have sent is never
answered, and at its address nobody even refuses. Healed, all goes on where it stood.
"""

from onceproof.cluster.settings import SUSPECTS
from onceproof.errors import FaultError, OnceproofError
from onceproof.faults.network import NetworkFault
from onceproof.faults.victim import Victim
from onceproof.wire.control import Wire


class Vanish:
    def __init__(self, victim: Victim, wire: Wire) -> None:
        self._place = {"broker": int(victim.on_the_wire()["broker"]), "listener": SUSPECTS.lower()}
        self._name = victim.name
        self._wire = wire
        self._cut = NetworkFault(victim, wire, "cut", {})

    def inject(self) -> str:
        self._cut.inject()
        try:
            self._wire.vanish(self._place)
        except OnceproofError:
            self._cut.heal()
            raise
        return f"a connection to the address of {self._name} was not answered; nothing passes"

    def heal(self) -> None:
        self._wire.appear(self._place)
        self._cut.heal()

    def is_healed(self) -> bool:
        return self._cut.is_healed()

    def outcome(self) -> str:
        """Whoever only tried to connect is not seen: nobody was there to see it."""
        try:
            return self._cut.outcome()
        except FaultError:
            return "no connection that was open had anything to say"
