"""loss: so many percent of all packets are lost, as the ends of a TCP connection see it.

TCP hides a loss: the packet is sent again, and everything behind it waits. So a loss is a stall:
one retransmission timeout for the first, twice that for the next of the same packet, and so on.
"""

from dataclasses import dataclass

from onceproof.wire.matching import Seen
from onceproof.wire.rules.rule import Moment
from onceproof.wire.verdict import PASS, Verdict, Wait

SEGMENT_BYTES = 1448
SEGMENTS_MAX = 64  # of one frame; the kernel recovers most of a long train without a timeout
TIMEOUT_S = 0.2  # Linux's least
RETRIES_MAX = 6


@dataclass(frozen=True, kw_only=True)
class Loss:
    percent: float

    def act(self, seen: Seen, moment: Moment) -> Verdict:
        segments = min(SEGMENTS_MAX, -(-seen.size // SEGMENT_BYTES))
        stall_s = max(self._stall_s(moment) for _ in range(max(1, segments)))
        return Wait(stall_s) if stall_s else PASS

    def _stall_s(self, moment: Moment) -> float:
        """Of one packet, until it has come through."""
        stall_s, timeout_s = 0.0, TIMEOUT_S
        for _ in range(RETRIES_MAX):
            if moment.dice.random() * 100 >= self.percent:
                break
            stall_s += timeout_s
            timeout_s *= 2
        return stall_s
