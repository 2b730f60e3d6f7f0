"""The pure decisions of the sink: what a lane may do, who owns the sink, what the ledger says."""

import pytest

from onceproof.sink.entries import Manifest, Token, read_entry
from onceproof.sink.errors import OwnershipError, SinkError
from onceproof.sink.lane import LaneState, LaneTask, decide
from onceproof.sink.ownership import judge_ownership
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
    }
    return make_settings(**{**given, **changes})


def task(batch: int = 7, *, takeover: bool = False) -> LaneTask:
    return LaneTask(settings=settings(takeover=takeover), query="q", batch=batch, write=True)


def token(batch: int, query: str = "q") -> Token:
    return Token(query=query, batch=batch, lane=0, rows=3, digest="00")


def manifest(batch: int, query: str = "q") -> Manifest:
    return Manifest(query=query, batch=batch, lanes=4, lanes_ever=4)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (None, LaneState.MISSING),
        (token(6), LaneState.MISSING),
        (token(2), LaneState.MISSING),  # a lane that was not used for a while
        (token(7), LaneState.ALREADY),
        (token(8), LaneState.FOREIGN),
        (token(7, query="another"), LaneState.FOREIGN),
        (manifest(7), LaneState.FOREIGN),
    ],
)
def test_a_lane_decides_by_its_last_token(entry: Token | None, expected: LaneState) -> None:
    assert decide(entry, task()) is expected


def test_takeover_lets_a_lane_write_over_another_query_but_never_over_a_later_batch() -> None:
    assert decide(token(9, query="another"), task(takeover=True)) is LaneState.MISSING
    assert decide(token(8), task(takeover=True)) is LaneState.FOREIGN


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


@pytest.mark.parametrize("entry", [token(3), manifest(3)])
def test_ledger_entries_survive_the_round_trip(entry: Token | Manifest) -> None:
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
