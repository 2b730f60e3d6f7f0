"""Offsets and what they mean: the two lags, the true last record, what the bar shows."""

from dataclasses import replace

import pytest

from onceproof.cluster.batches import BatchHeader, Outcome
from onceproof.cluster.replicas import Replica
from onceproof.cluster.transactions import NamedTransaction
from onceproof.offsets.draw import BAR_WIDTH, bar, draw
from onceproof.offsets.view import GroupPlace, OffsetsView, PartitionOffsets, Tail, tail_of


def data(base: int, last: int, producer: int, *, transactional: bool = True) -> BatchHeader:
    return BatchHeader(
        base_offset=base,
        last_offset=last,
        records=last - base + 1,
        producer_id=producer,
        epoch=0,
        transactional=transactional,
    )


def marker(offset: int, producer: int, ends: Outcome) -> BatchHeader:
    return replace(data(offset, offset, producer), control=True, ends=ends)


OPEN = NamedTransaction(
    partition=0,
    producer_id=7,
    epoch=2,
    start_offset=20,
    transactional_id="orders-0",
    state="Ongoing",
    started_ms=1_000,
    timeout_ms=60_000,
)
PARTITION = PartitionOffsets(
    topic="out",
    partition=0,
    leader=1,
    replicas=(Replica(broker=1, in_sync=True, leo=30), Replica(broker=2, in_sync=False, leo=None)),
    log_start=0,
    lso=20,
    hwm=30,
    position=10,
    open_transactions=(OPEN,),
    tail=Tail(begin=0, control_records=1, last_record=29, last_committed=18),
)


def test_an_open_transaction_takes_the_two_lags_apart() -> None:
    assert (PARTITION.lag_read_committed, PARTITION.lag_read_uncommitted) == (10, 20)
    ended = replace(PARTITION, lso=30, open_transactions=())
    assert (ended.lag_read_committed, ended.lag_read_uncommitted) == (20, 20)


def test_only_the_transaction_at_the_lso_pins_it() -> None:
    later = replace(OPEN, producer_id=8, start_offset=25)
    assert replace(PARTITION, open_transactions=(OPEN, later)).pins == (OPEN,)


def test_without_a_position_there_is_no_lag() -> None:
    unread = replace(PARTITION, position=None)
    assert unread.lag_read_committed is None
    assert unread.has_unread is None
    assert unread.deleted_unread == 0


def test_a_lag_may_be_a_control_record_alone() -> None:
    """Records 0 to 8, the marker at 9: who has read them all stands at 9, with a lag of 1."""
    tail = Tail(begin=0, control_records=1, last_record=8, last_committed=8)
    whole = replace(PARTITION, lso=10, hwm=10, position=9, tail=tail, open_transactions=())
    assert (whole.lag_read_committed, whole.has_unread) == (1, False)
    assert "a lag of 1, and nothing to read" in draw(OffsetsView(partitions=(whole,)), 0)


def test_what_retention_took_from_under_the_group_is_told() -> None:
    late = replace(PARTITION, log_start=15)
    assert late.deleted_unread == 5
    assert "5 offsets were deleted before the group read them" in draw(
        OffsetsView(partitions=(late,)), 0
    )


@pytest.mark.parametrize(
    ("ends", "lso", "last_committed"),
    [(Outcome.COMMITTED, 6, 4), (Outcome.ABORTED, 6, 1), (None, 2, 1)],
)
def test_the_last_record_is_not_the_end_minus_one(
    ends: Outcome | None, lso: int, last_committed: int
) -> None:
    """Two records outside any transaction, three in one that is then ended, or is not."""
    log = [data(0, 1, -1, transactional=False), data(2, 4, 7)]
    log += [] if ends is None else [marker(5, 7, ends)]
    tail = tail_of(0, 0, log, lso)
    assert tail.last_record == 4
    assert tail.last_committed == last_committed
    assert tail.control_records == (0 if ends is None else 1)


def test_the_bar_has_a_cell_for_whatever_is_not_empty() -> None:
    assert bar(PARTITION) == "#" * 10 + "=" * 10 + "?" * 10
    assert bar(replace(PARTITION, hwm=0, lso=0, position=None)) == " " * BAR_WIDTH
    little = replace(PARTITION, hwm=10_000, lso=9_999, position=9_998)
    assert bar(little) == "#" * (BAR_WIDTH - 2) + "=?"
    assert len(bar(replace(PARTITION, position=29))) == BAR_WIDTH


def test_a_view_tells_the_coordinator_the_ends_and_who_pins() -> None:
    place = GroupPlace(
        group="g", state="Stable", log_partition=10, log_partitions=50, log_leader=3, coordinator=3
    )
    text = draw(OffsetsView(partitions=(PARTITION,), group=place), now_ms=13_000)
    assert text.splitlines()[0] == (
        "group g (Stable): __consumer_offsets-10 (of 50), led by broker 3; broker 3 answers for it"
    )
    assert "1:30* 2:-!" in text
    assert text.splitlines()[-1] == (
        "out-0: transaction 'orders-0' (producer 7 epoch 2), open for 12 s of at most 60 s,"
        " pins the LSO at 20"
    )
    assert "they differ" in draw(
        OffsetsView(group=replace(place, coordinator=1), partitions=()), now_ms=0
    )


def test_a_topic_that_is_deleted_is_told_where_the_group_still_has_positions() -> None:
    assert draw(OffsetsView(gone=("old",)), 0).splitlines()[-1] == (
        "old: deleted; the group still has positions there"
    )
