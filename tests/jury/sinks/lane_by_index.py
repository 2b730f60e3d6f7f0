"""lost and duplicated: takes partition n of a replay for lane n, whatever rows are in it.

Spark's Kafka source hands out the same ranges in another order when it replays a batch, so the
partition that is taken for done is not the one that was written.
"""

from collections.abc import Mapping
from dataclasses import replace

import choreography

from onceproof.sink import leader
from onceproof.sink.ledger.entries import Cut, Token
from onceproof.sink.replay import Contents, Match, match_lanes


def by_index(
    _cut: Cut, lanes: int, committed: Mapping[int, Token], replayed: Mapping[int, Contents]
) -> Match:
    return replace(match_lanes(Cut.KEYS, lanes, committed, replayed), unmatched=())


if __name__ == "__main__":
    choreography.stand_still_after_lane_0()
    if not choreography.HONEST:
        leader.match_lanes = by_index
    choreography.run()
