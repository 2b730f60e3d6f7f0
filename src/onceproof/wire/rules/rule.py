"""What a rule is."""

import random
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from onceproof.wire.matching import Seen
from onceproof.wire.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What a rule may know besides the frame."""

    now: float  # seconds, monotonic
    dice: random.Random  # seeded by the run


class Rule(Protocol):
    def act(self, seen: Seen, moment: Moment) -> Verdict:
        """On a frame that fits. `Pass` means that the rule left it alone, and is not counted."""
        ...


@runtime_checkable
class Gate(Protocol):
    """A rule that also decides who may connect."""

    def admits(self) -> bool: ...
