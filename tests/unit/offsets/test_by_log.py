"""What was told of a partition, against its batches: an open transaction, and each way it ends."""

from dataclasses import replace

import pytest

from onceproof.cluster.batches import BatchHeader, Outcome
from onceproof.offsets.by_log import disagreements, outcome_at
from onceproof.offsets.view import PartitionOffsets, Tail


def data(base: int, last: int) -> BatchHeader:
    return BatchHeader(
        base_offset=base,
        last_offset=last,
        records=last - base + 1,
        producer_id=7,
        epoch=0,
        transactional=True,
    )


def marker(offset: int, ends: Outcome) -> BatchHeader:
    return replace(data(offset, offset), control=True, ends=ends)


COMMITTED = [data(0, 3), marker(4, Outcome.COMMITTED)]
OPEN = [*COMMITTED, data(5, 7)]
TOLD = PartitionOffsets(
    topic="out",
    partition=0,
    leader=1,
    replicas=(),
    log_start=0,
    lso=5,
    hwm=8,
    position=5,
    tail=Tail(begin=0),
)


def test_an_open_transaction_holds_the_lso_at_its_first_offset() -> None:
    assert disagreements(TOLD, OPEN) == []


@pytest.mark.parametrize("ends", [Outcome.COMMITTED, Outcome.ABORTED])
def test_its_end_takes_an_offset_and_sets_the_lso_free(ends: Outcome) -> None:
    log = [*OPEN, marker(8, ends)]
    assert disagreements(replace(TOLD, lso=9, hwm=9), log) == []
    assert disagreements(TOLD, log) == [
        "HWM of out-0 is told as 8; by its log it is 9",
        "LSO of out-0 is told as 5; by its log it is 9",
        "lag as read_uncommitted of out-0 is told as 3; by its log it is 4",
        "lag as read_committed of out-0 is told as 0; by its log it is 4",
    ]


@pytest.mark.parametrize("ends", [Outcome.COMMITTED, Outcome.ABORTED])
def test_what_became_of_a_transaction(ends: Outcome) -> None:
    assert outcome_at(0, OPEN, 5) is Outcome.UNKNOWN
    assert outcome_at(0, [*OPEN, marker(8, ends)], 5) is ends
    assert outcome_at(0, OPEN, 6) is None


def test_an_lso_that_stays_behind_is_told() -> None:
    behind = replace(TOLD, lso=0, position=None)
    assert disagreements(behind, OPEN) == ["LSO of out-0 is told as 0; by its log it is 5"]


def test_an_empty_log_ends_where_it_starts() -> None:
    assert disagreements(replace(TOLD, log_start=3, lso=3, hwm=3, position=None), []) == []
