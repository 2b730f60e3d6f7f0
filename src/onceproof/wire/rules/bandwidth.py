"""bandwidth: all frames that fit share a line of so many bytes a second."""

from onceproof.errors import UsageError
from onceproof.wire.matching import Seen
from onceproof.wire.rules.rule import Moment
from onceproof.wire.verdict import Verdict, Wait


class Bandwidth:
    def __init__(self, *, bytes_per_s: float) -> None:
        if bytes_per_s <= 0:
            raise UsageError(f"bandwidth must be above 0 bytes a second; got {bytes_per_s}")
        self._bytes_per_s = bytes_per_s
        self._free_at = 0.0

    def act(self, seen: Seen, moment: Moment) -> Verdict:
        self._free_at = max(self._free_at, moment.now) + seen.size / self._bytes_per_s
        return Wait(self._free_at - moment.now)
