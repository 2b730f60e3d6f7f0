"""delay: each frame is late by so many seconds, more or less by `jitter_s`."""

from dataclasses import dataclass

from onceproof.wire.matching import Seen
from onceproof.wire.rules.rule import Moment
from onceproof.wire.verdict import Verdict, Wait


@dataclass(frozen=True, kw_only=True)
class Delay:
    seconds: float
    jitter_s: float = 0.0

    def act(self, _seen: Seen, moment: Moment) -> Verdict:
        shift = moment.dice.uniform(-self.jitter_s, self.jitter_s) if self.jitter_s else 0.0
        return Wait(max(0.0, self.seconds + shift))
