"""partition: nothing passes, as if the cable were out. Connections stay, their bytes wait.

One way or both is the match's direction; a broker from clients or from other brokers its listener.
Healed, what waited goes on its way, as TCP would send it again; by then its sender may be gone.
"""

from dataclasses import dataclass

from onceproof.wire import verdict
from onceproof.wire.matching import Seen
from onceproof.wire.rules.rule import Moment


@dataclass(frozen=True, kw_only=True)
class Partition:
    name: str

    def act(self, _seen: Seen, _moment: Moment) -> verdict.Verdict:
        return verdict.Hold(by=self.name)
