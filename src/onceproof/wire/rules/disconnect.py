"""disconnect: the connection is closed when the frame comes by; the frame is lost with it."""

from onceproof.wire import verdict
from onceproof.wire.matching import Seen
from onceproof.wire.rules.rule import Moment


class Disconnect:
    def act(self, _seen: Seen, _moment: Moment) -> verdict.Verdict:
        return verdict.Disconnect()
