"""Which partition is which lane, and whether what is committed is what is replayed. Pure.

By keys lane n is partition n. By partitions a lane belongs to what a partition reads: the manifest
names it. The partitions of a replay may come in another order, and every driver that takes the
batch up comes to the same lanes.
"""

from collections.abc import Mapping, Sequence

from onceproof.sink.cut import Lanes
from onceproof.sink.ledger.entries import Cut, Manifest, Token

Contents = tuple[int, str]  # rows and digest


def lanes_by_partition(lanes: Lanes, manifest: Manifest) -> dict[int, int] | None:
    """None: these are not the partitions with which the batch was begun."""
    if lanes.cut is Cut.KEYS:
        return {lane: lane for lane in range(manifest.lanes)}
    if sorted(lanes.sources) != sorted(manifest.sources):
        return None
    return {n: manifest.sources.index(source) for n, source in enumerate(lanes.sources)}


def unmatched(committed: Mapping[int, Token], replayed: Mapping[int, Contents]) -> Sequence[Token]:
    """Tokens of lanes whose rows are other ones now. `replayed`: lane → its rows."""
    return [token for lane, token in committed.items() if _contents(token) != replayed[lane]]


def _contents(token: Token) -> Contents:
    return token.rows, token.digest
