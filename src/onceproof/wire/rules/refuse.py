"""refuse: no new connection is accepted; those that are there stay."""

from onceproof.wire.matching import Seen
from onceproof.wire.rules.rule import Moment
from onceproof.wire.verdict import PASS, Verdict


class Refuse:
    def act(self, _seen: Seen, _moment: Moment) -> Verdict:
        return PASS

    def admits(self) -> bool:
        return False
