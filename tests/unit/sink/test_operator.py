"""A ruling: refused, recorded, or recorded with a lane that could not be fenced."""

from collections.abc import Mapping
from typing import Any

import pytest

from onceproof.sink import operator
from onceproof.sink.errors import FencedError, LaneError
from onceproof.sink.ledger.entries import Decision, Manifest
from onceproof.sink.operator import SinkState, rule
from onceproof.sink.settings import Settings

SETTINGS = Settings(sink_id="s", topic="out", lanes=2, ledger_topic="s.ledger", client=())
STATE = SinkState(
    manifest=Manifest(query="q", batch=7, lanes=2, lanes_ever=2), ruling=None, tokens={}, end=4
)


class Brokers:
    """Lane 1's coordinator is away for some time; what is committed, is counted."""

    def __init__(self) -> None:
        self.away = 0
        self.fences = 0  # of the driver
        self.rulings = 0

    def open_transaction(self, configuration: Mapping[str, str], **_: Any) -> "MadeUpTransaction":
        if configuration["transactional.id"].endswith("lane-1") and self.away > 0:
            self.away -= 1
            raise LaneError("no coordinator")
        return MadeUpTransaction()

    def commit_entry(self, *_: Any) -> None:
        if self.fences > 0:
            self.fences -= 1
            raise FencedError("fenced")
        self.rulings += 1


class MadeUpTransaction:
    def begin(self) -> None: ...

    def produce_record(self, record: Any) -> None: ...

    def close(self) -> None: ...


@pytest.fixture
def brokers(monkeypatch: pytest.MonkeyPatch) -> Brokers:
    brokers = Brokers()
    monkeypatch.setattr(operator, "open_transaction", brokers.open_transaction)
    monkeypatch.setattr(operator, "commit_entry", brokers.commit_entry)
    monkeypatch.setattr(operator, "inspect", lambda _settings: STATE)
    return brokers


def skip() -> None:
    rule(SETTINGS, batch=7, decision=Decision.SKIP, reason="known to be wrong")


def test_whoever_is_fenced_by_a_query_that_is_ending_tries_again(brokers: Brokers) -> None:
    brokers.fences = 4
    skip()
    assert brokers.rulings == 1


def test_what_is_refused_each_time_is_not_recorded_and_told_so(brokers: Brokers) -> None:
    brokers.fences = 5
    with pytest.raises(LaneError, match="refused 5 times; does the query still run"):
        skip()
    assert brokers.rulings == 0


def test_a_lane_that_cannot_be_fenced_at_once_makes_no_second_ruling(brokers: Brokers) -> None:
    brokers.away = 4
    skip()
    assert brokers.rulings == 1


def test_a_ruling_that_is_recorded_is_never_said_to_be_refused(brokers: Brokers) -> None:
    brokers.away = 5
    told = r"recorded \(skip, batch 7\), but not all lanes could be fenced.*no coordinator"
    with pytest.raises(LaneError, match=told):
        skip()
    assert brokers.rulings == 1
