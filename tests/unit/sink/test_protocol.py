"""The pure decisions of the sink: what a lane may do, who owns the sink, what the ledger says."""

from dataclasses import replace

import pytest

from onceproof.sink.errors import LaneError, OwnershipError, SinkError
from onceproof.sink.lane import Work, decide, is_ours
from onceproof.sink.ledger.entries import Cut, Decision, Manifest, Ruling, Token, read_entry
from onceproof.sink.ownership import judge_ownership
from onceproof.sink.replay import match_lanes
from onceproof.sink.reports import LaneState
from onceproof.sink.settings import Settings, make_settings


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


def work(batch: int = 7, *, takeover: bool = False) -> Work:
    return Work(settings=settings(takeover=takeover), query="q", batch=batch)


def token(batch: int, query: str = "q") -> Token:
    return Token(query=query, batch=batch, lane=0, rows=3, digest="00")


def manifest(batch: int, query: str = "q", announcement: str = "") -> Manifest:
    return Manifest(query=query, batch=batch, lanes=4, lanes_ever=4, announcement=announcement)


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


def test_takeover_lets_a_lane_write_over_another_query_but_never_over_a_later_batch() -> None:
    assert decide(token(9, query="another"), work(takeover=True)) is None
    assert decide(token(8), work(takeover=True)) is LaneState.FOREIGN


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
        (None, 3, "a checkpoint without its ledger"),
        (manifest(9), 4, "the checkpoint was rolled back"),
        (manifest(2), 4, "batches between were not written by this sink"),
        (manifest(5, query="another"), 0, "another checkpoint"),
    ],
)
def test_a_ledger_and_a_checkpoint_that_do_not_belong_together_stop_the_sink(
    last: Manifest | None, batch_id: int, message: str
) -> None:
    with pytest.raises(OwnershipError, match=message):
        judge_ownership(last, "q", batch_id, settings())


def test_adopt_and_takeover_are_explicit_ways_out() -> None:
    judge_ownership(None, "q", 3, settings(adopt=True))
    judge_ownership(manifest(2), "q", 4, settings(adopt=True))
    judge_ownership(manifest(5, query="another"), "q", 0, settings(takeover=True))


RULING = Ruling(manifest=manifest(3), decision=Decision.SKIP, by="me", at="now", reason="why")


@pytest.mark.parametrize("entry", [token(3), manifest(3), RULING])
def test_ledger_entries_survive_the_round_trip(entry: Token | Manifest | Ruling) -> None:
    assert read_entry(entry.to_bytes()) == entry


def test_an_entry_of_a_newer_format_is_refused() -> None:
    newer = token(3).to_bytes().replace(b'"version": 1', b'"version": 2')
    with pytest.raises(ValueError, match="written by a newer sink"):
        read_entry(newer)


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


def test_by_keys_a_committed_lane_is_compared_with_the_partition_of_its_number() -> None:
    replayed = {0: (1, "a"), 1: (2, "b"), 2: (3, "c")}
    right = match_lanes(Cut.KEYS, 3, {1: committed(1, 2, "b")}, replayed)
    assert (right.lane_of, right.unmatched) == ({0: 0, 2: 2}, ())
    moved = match_lanes(Cut.KEYS, 3, {1: committed(1, 1, "a")}, replayed)
    assert moved.unmatched == (committed(1, 1, "a"),)


def test_by_partitions_a_committed_lane_is_recognised_by_its_contents_in_any_place() -> None:
    replayed = {0: (1, "a"), 1: (2, "b"), 2: (3, "c")}
    match = match_lanes(
        Cut.PARTITIONS, 3, {0: committed(0, 3, "c"), 2: committed(2, 1, "a")}, replayed
    )
    assert (match.lane_of, match.unmatched) == ({1: 1}, ())


def test_partitions_with_equal_contents_count_one_by_one() -> None:
    replayed = {0: (1, "a"), 1: (1, "a"), 2: (0, "0")}
    match = match_lanes(Cut.PARTITIONS, 3, {0: committed(0, 1, "a")}, replayed)
    assert (match.lane_of, match.unmatched) == ({1: 1, 2: 2}, ())
    both = {0: committed(0, 1, "a"), 1: committed(1, 1, "a"), 2: committed(2, 1, "a")}
    assert match_lanes(Cut.PARTITIONS, 3, both, replayed).unmatched == (committed(2, 1, "a"),)


def test_by_partitions_contents_that_are_not_among_the_replayed_ones_are_told() -> None:
    replayed = {0: (1, "a"), 1: (2, "b")}
    match = match_lanes(Cut.PARTITIONS, 2, {1: committed(1, 2, "x")}, replayed)
    assert match.unmatched == (committed(1, 2, "x"),)
