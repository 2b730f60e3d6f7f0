"""drop: never forwarded. Of a request the broker knows nothing; before a response it has acted."""

from onceproof.wire import verdict
from onceproof.wire.matching import Seen
from onceproof.wire.rules.rule import Moment


class Drop:
    def act(self, _seen: Seen, _moment: Moment) -> verdict.Verdict:
        return verdict.Drop()
