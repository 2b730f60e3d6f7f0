"""A batch that was begun before: which lanes are committed, which partition is which. Pure.

By keys lane n is partition n. By partitions a lane is recognised by its contents: the partitions of
a replay hold the same rows, but may come in another order.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from onceproof.sink.ledger.entries import Cut, Token

Contents = tuple[int, str]  # rows and digest


@dataclass(frozen=True, kw_only=True)
class Match:
    lane_of: dict[int, int]  # partition → lane, of what is still to be written
    unmatched: tuple[Token, ...]  # committed, and not among the replayed rows


def match_lanes(
    cut: Cut, lanes: int, committed: Mapping[int, Token], replayed: Mapping[int, Contents]
) -> Match:
    """`committed`: lane → its token of this batch; `replayed`: partition → its rows now."""
    if cut is Cut.KEYS:
        unmatched = [
            token for lane, token in committed.items() if _contents(token) != replayed[lane]
        ]
        to_write = {lane: lane for lane in range(lanes) if lane not in committed}
        return Match(lane_of=to_write, unmatched=tuple(unmatched))
    open_partitions = dict(replayed)
    unmatched = []
    for token in committed.values():
        found = next((n for n, c in open_partitions.items() if c == _contents(token)), None)
        if found is None:
            unmatched.append(token)
        else:
            del open_partitions[found]
    free_lanes = [lane for lane in range(lanes) if lane not in committed]
    return Match(
        lane_of=dict(zip(sorted(open_partitions), free_lanes, strict=False)),
        unmatched=tuple(unmatched),
    )


def _contents(token: Token) -> Contents:
    return token.rows, token.digest
