"""One fault on one victim: inject it, heal it, and know whether it is healed."""

from typing import Protocol


class Fault(Protocol):
    def inject(self) -> str:
        """Do it; the evidence that it applied. Raises FaultError where it did not."""
        ...

    def heal(self) -> None: ...

    def is_healed(self) -> bool: ...

    def outcome(self) -> str:
        """After healing: what is known only then. FaultError where it did nothing."""
        ...


class SeenAtOnce:
    """A fault whose `inject` knows already that it applied."""

    def outcome(self) -> str:
        return ""
