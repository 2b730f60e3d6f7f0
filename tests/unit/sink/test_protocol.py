"""The pure decisions of the sink: what a lane may do, who owns the sink, what the ledger says."""

from dataclasses import replace

import pytest

from onceproof.sink.cut import Lanes
from onceproof.sink.errors import LaneError, OwnershipError, SinkError
from onceproof.sink.lane import decide, is_ours
from onceproof.sink.ledger.entries import Cut, Decision, Manifest, Ruling, Token, read_entry
from onceproof.sink.ownership import (
    PREDECESSORS_MAX,
    judge_ownership,
    predecessors,
    refuse_tokens_ahead,
)
from onceproof.sink.replay import lanes_by_partition, unmatched
from onceproof.sink.reports import LaneState
from onceproof.sink.settings import Settings, make_settings
from onceproof.sink.work import Work


def settings(**changes: object) -> Settings:
    given = {
        "sink_id": "orders",
        "topic": "out",
        "options": {"kafka.bootstrap.servers": "localhost:1"},
        "lanes": 4,
        "ledger_topic": None,
        "takeover": False,
        "adopt": False,
        "small_lane_bytes": 0,
        "small_batch_bytes": 0,
        "fast": True,
    }
    return make_settings(**{**given, **changes})


def work(batch: int = 7, *predecessors: str) -> Work:
    return Work(settings=settings(), query="q", batch=batch, predecessors=predecessors)


def token(batch: int, query: str = "q") -> Token:
    return Token(query=query, batch=batch, lane=0, rows=3, digest="00")


def manifest(batch: int, query: str = "q", announcement: str = "") -> Manifest:
    return Manifest(query=query, batch=batch, lanes=4, lanes_ever=4, announcement=announcement)


def by_partitions(*sources: str) -> Manifest:
    return replace(manifest(7), lanes=len(sources), cut=Cut.PARTITIONS.value, sources=sources)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (None, None),
        (token(6), None),
        (token(2), None),  # a lane that was not used for a while
        (token(7), LaneState.ALREADY),
        (token(8), LaneState.FOREIGN),
        (token(7, query="another"), LaneState.FOREIGN),
        (manifest(7), LaneState.FOREIGN),
    ],
)
def test_a_lane_decides_by_its_last_token(entry: Token | None, expected: LaneState | None) -> None:
    assert decide(entry, work()) is expected


def test_a_lane_is_written_over_the_query_it_was_taken_over_from_and_over_no_other() -> None:
    assert decide(token(9, query="another"), work(7, "another")) is None
    assert decide(token(9, query="a third"), work(7, "another")) is LaneState.FOREIGN
    assert decide(token(8), work(7, "another")) is LaneState.FOREIGN


def test_who_was_taken_over_is_remembered_for_good() -> None:
    first = replace(manifest(5, query="first"), predecessors=())
    second = replace(manifest(0, query="second"), predecessors=predecessors(first, "second"))
    assert second.predecessors == ("first",)
    assert predecessors(second, "second") == ("first",)  # and in each later batch
    assert predecessors(None, "q") == ()


@pytest.mark.parametrize("takeover", [True, False])
def test_a_query_that_was_overtaken_does_not_take_the_sink_back_in_a_later_life(
    *, takeover: bool
) -> None:
    """Its last batch may be committed, and the ledger knows only the last manifest."""
    last = replace(manifest(3, query="second"), predecessors=("q", "another"))
    with pytest.raises(OwnershipError, match=r"was taken over from this query .*another sink_id"):
        judge_ownership(last, "q", 10, settings(takeover=takeover))


def test_a_ledger_that_can_remember_no_more_predecessors_is_not_taken_over() -> None:
    some = tuple(f"q-{number}" for number in range(PREDECESSORS_MAX - 1))
    judge_ownership(
        replace(manifest(3, query="last"), predecessors=some), "q", 0, settings(takeover=True)
    )
    full = replace(manifest(3, query="last"), predecessors=(*some, "one more"))
    judge_ownership(full, "last", 4, settings(takeover=True))  # who has it goes on
    with pytest.raises(OwnershipError, match=r"taken over 100 times.*another sink_id"):
        judge_ownership(full, "q", 0, settings(takeover=True))


@pytest.mark.parametrize(
    ("found", "ours"),
    [
        (manifest(6), False),  # the driver's is still being committed
        (manifest(7, announcement="mine"), True),
    ],
)
def test_a_task_waits_for_its_own_drivers_manifest(found: Manifest, *, ours: bool) -> None:
    assert is_ours(found, replace(work(), announcement="mine")) is ours


@pytest.mark.parametrize(
    "found",
    [
        manifest(7, announcement="of a successor, perhaps cut otherwise"),
        manifest(8, announcement="mine"),
        manifest(6, query="another"),
        manifest(7, announcement="of the same driver, which has taken the batch up again"),
    ],
)
def test_a_task_whose_driver_was_overtaken_before_it_announced_writes_nothing(
    found: Manifest,
) -> None:
    with pytest.raises(LaneError, match="another driver leads this sink now"):
        is_ours(found, replace(work(), announcement="mine"))


@pytest.mark.parametrize(("last", "batch_id"), [(None, 0), (manifest(6), 7), (manifest(7), 7)])
def test_the_owner_goes_on_with_the_next_batch_or_replays_the_last(
    last: Manifest | None, batch_id: int
) -> None:
    judge_ownership(last, "q", batch_id, settings())


@pytest.mark.parametrize(
    ("last", "batch_id", "message"),
    [
        (None, 3, "a checkpoint without its ledger.*the empty ones too"),
        (manifest(9), 4, "the checkpoint was rolled back"),
        (manifest(2), 4, "batches between were not written by this sink.*the empty ones too"),
        (manifest(5, query="another"), 0, "a ledger without its checkpoint"),
        (manifest(5, query="another"), 4, "two checkpoints with one sink"),
    ],
)
def test_a_ledger_and_a_checkpoint_that_do_not_belong_together_stop_the_sink(
    last: Manifest | None, batch_id: int, message: str
) -> None:
    with pytest.raises(OwnershipError, match=message):
        judge_ownership(last, "q", batch_id, settings())


def test_while_it_waits_for_its_takeover_to_be_announced_a_task_knows_whom_it_follows() -> None:
    assert is_ours(manifest(9, query="another"), work(0, "another")) is False


def test_who_has_led_and_was_overtaken_does_not_take_the_sink_back() -> None:
    with pytest.raises(OwnershipError, match="query another has taken it over from this one"):
        judge_ownership(manifest(0, query="another"), "q", 5, settings(takeover=True), has_led=True)


@pytest.mark.parametrize("last", [None, manifest(6)])
def test_a_token_beyond_the_last_manifest_means_that_the_ledger_has_lost_entries(
    last: Manifest | None,
) -> None:
    with pytest.raises(OwnershipError, match=r"lane 0 is at batch 7 .* has lost entries"):
        refuse_tokens_ahead([token(3), token(7)], last, "q", settings())


def test_tokens_up_to_the_last_manifest_and_those_of_others_are_no_wonder() -> None:
    tokens = [token(3), token(6), token(9, query="another")]
    refuse_tokens_ahead(tokens, manifest(6), "q", settings())
    refuse_tokens_ahead(tokens, manifest(0, query="another"), "q", settings(takeover=True))


def test_adopt_and_takeover_are_explicit_ways_out() -> None:
    judge_ownership(None, "q", 3, settings(adopt=True))
    judge_ownership(manifest(2), "q", 4, settings(adopt=True))
    judge_ownership(manifest(5, query="another"), "q", 0, settings(takeover=True))


RULING = Ruling(manifest=manifest(3), decision=Decision.SKIP, by="me", at="now", reason="why")


@pytest.mark.parametrize("entry", [token(3), manifest(3), by_partitions("in-0@3..9"), RULING])
def test_ledger_entries_survive_the_round_trip(entry: Token | Manifest | Ruling) -> None:
    assert read_entry(entry.to_bytes()) == entry


@pytest.mark.parametrize(("version", "writer"), [(1, "an older"), (3, "a newer")])
def test_an_entry_of_another_format_is_refused(version: int, writer: str) -> None:
    other = token(3).to_bytes().replace(b'"version": 2', f'"version": {version}'.encode())
    with pytest.raises(SinkError, match=f"written by {writer} sink"):
        read_entry(other)


@pytest.mark.parametrize("value", [b"\x00", b"[]", b'{"kind": "token"}'])
def test_what_is_no_entry_is_refused(value: bytes) -> None:
    with pytest.raises(SinkError, match="not an entry of a sink's ledger"):
        read_entry(value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "kafka.bootstrap.servers"),
        ({"bootstrap.servers": "x"}, "begin with 'kafka.'"),
        ({"kafka.bootstrap.servers": "x", "kafka.acks": "1"}, "set by the sink itself"),
    ],
)
def test_options_that_would_break_the_protocol_are_refused(options: dict, message: str) -> None:
    with pytest.raises(SinkError, match=message):
        settings(options=options)


def test_secrets_do_not_show_when_settings_are_printed() -> None:
    shown = repr(settings(options={"kafka.bootstrap.servers": "x", "kafka.sasl.password": "hush"}))
    assert "hush" not in shown


def committed(lane: int, rows: int, digest: str) -> Token:
    return Token(query="q", batch=7, lane=lane, rows=rows, digest=digest)


def test_a_lane_whose_rows_are_other_ones_in_the_replay_is_told() -> None:
    replayed = {0: (1, "a"), 1: (2, "b"), 2: (3, "c")}
    assert unmatched({1: committed(1, 2, "b")}, replayed) == []
    assert unmatched({1: committed(1, 1, "a")}, replayed) == [committed(1, 1, "a")]


def test_by_keys_a_lane_is_the_partition_of_its_number() -> None:
    assert lanes_by_partition(Lanes(cut=Cut.KEYS, count=4), manifest(7)) == {n: n for n in range(4)}


def test_by_partitions_a_lane_belongs_to_what_a_partition_reads_in_whatever_place() -> None:
    begun = by_partitions("in-0@3..9", "in-1@0..4", "in-2@5..5")
    now = Lanes(cut=Cut.PARTITIONS, count=3, sources=("in-2@5..5", "in-0@3..9", "in-1@0..4"))
    assert lanes_by_partition(now, begun) == {0: 2, 1: 0, 2: 1}


@pytest.mark.parametrize(
    "now", [(), ("in-0@3..9",), ("in-0@3..6", "in-0@6..9"), ("in-0@3..9", "in-1@0..4", "in-2@0..1")]
)
def test_other_partitions_than_those_it_was_begun_with_are_not_guessed_at(
    now: tuple[str, ...],
) -> None:
    begun = by_partitions("in-0@3..9", "in-1@0..4")
    assert lanes_by_partition(Lanes(cut=Cut.PARTITIONS, count=2, sources=now), begun) is None
