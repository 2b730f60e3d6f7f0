"""lost: believes a token without comparing the rows it stands for.

The query is not deterministic: it looks its rows up in a table that others still fill, and its
first life finds half of batch 1 there, the second life all of it. The real sink stops there.
"""

from collections.abc import Mapping
from itertools import count

import choreography
from pyspark.sql import DataFrame

from onceproof.sink import laned
from onceproof.sink.ledger.entries import Token
from onceproof.sink.replay import Contents
from onceproof.suspects.spark import job

batches = count()


def believe(_committed: Mapping[int, Token], _replayed: Mapping[int, Contents]) -> list[Token]:
    return []


def those_found(batch: DataFrame) -> DataFrame:
    if choreography.IS_FIRST_LIFE and next(batches) == choreography.BATCH:
        return batch.where("pmod(hash(value), 2) = 0")
    return batch


if __name__ == "__main__":
    job._in_order = those_found
    choreography.before_lanes_are_written(lambda complete, reports, _: complete(reports))
    if not choreography.HONEST:
        laned.unmatched = believe
    choreography.run()
