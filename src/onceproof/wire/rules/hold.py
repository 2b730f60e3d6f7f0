"""hold: the frame is kept until it is released by the rule's name.

What the trial does meanwhile is its own: kill the client, pause it, start its successor. So every
exact moment is a hold, an act, and a release.
"""

from dataclasses import dataclass

from onceproof.wire import verdict
from onceproof.wire.matching import Seen
from onceproof.wire.rules.rule import Moment


@dataclass(frozen=True, kw_only=True)
class Hold:
    name: str
    cut_client: bool = False  # a request only: the client believes that it was lost

    def act(self, _seen: Seen, _moment: Moment) -> verdict.Verdict:
        return verdict.Hold(by=self.name, cut_client=self.cut_client)
