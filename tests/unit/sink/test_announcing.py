"""Who leads, and what becomes of a lead that is refused: its producer is closed."""

from dataclasses import replace
from typing import Any

import pytest

from onceproof.deadline import Deadline, wait_until
from onceproof.sink import announcing
from onceproof.sink.announcing import Announcer, Lead
from onceproof.sink.cut import Lanes
from onceproof.sink.errors import LaneError, OwnershipError, RefusedError
from onceproof.sink.ledger.entries import Cut, Manifest
from onceproof.sink.ledger.reader import LastWord
from onceproof.sink.producing.transaction import Record
from onceproof.sink.settings import Settings

SETTINGS = Settings(sink_id="s", topic="out", lanes=1, ledger_topic="s.ledger", client=())
WAIT_S_MAX = 10.0
ONE_LANE = Lanes(cut=Cut.KEYS, count=1)


class MadeUpTransaction:
    made: list["MadeUpTransaction"]

    def __init__(self, *_: Any, **__: Any) -> None:
        self.is_closed = False
        MadeUpTransaction.made.append(self)

    def begin(self) -> None: ...

    def produce_record(self, record: Record) -> None: ...

    def close(self) -> None:
        self.is_closed = True


class Ledger:
    """Its manifests' last word; what is committed becomes that, unless it is refused."""

    def __init__(self) -> None:
        self.last: Manifest | None = None
        self.refuses: Exception | None = None
        self.silent: BaseException | None = None

    def last_word(self, _settings: Settings, _partition: int) -> LastWord:
        if self.silent is not None:
            raise self.silent
        return LastWord(entry=self.last, end=0)

    def commit_entry(self, _transaction: Any, _record: Record, *_: Any) -> None:
        if self.refuses is not None:
            raise self.refuses


@pytest.fixture
def ledger(monkeypatch: pytest.MonkeyPatch) -> Ledger:
    found = Ledger()
    MadeUpTransaction.made = []
    monkeypatch.setattr(announcing, "open_transaction", MadeUpTransaction)
    monkeypatch.setattr(announcing, "last_word", found.last_word)
    monkeypatch.setattr(announcing, "last_entry", lambda _settings, _partition: None)
    monkeypatch.setattr(announcing, "commit_entry", found.commit_entry)
    monkeypatch.setattr(Announcer, "_prepare_ledger", lambda _self: None)
    monkeypatch.setattr(Announcer, "_make_ahead", lambda _self: None)
    return found


def of(query: str, batch: int = 0, **changes: Any) -> Manifest:
    return replace(Manifest(query=query, batch=batch, lanes=1, lanes_ever=1), **changes)


def announce(announcer: Announcer, lead: Lead, query: str, batch: int) -> None:
    announcer.announce(lead, query, batch, ONE_LANE)
    announcer.confirm()


def all_closed() -> bool:
    return all(each.is_closed for each in MadeUpTransaction.made)


def test_a_sink_that_is_given_to_a_second_query_takes_over_from_the_first(ledger: Ledger) -> None:
    announcer = Announcer(replace(SETTINGS, takeover=True))
    announce(announcer, announcer.lead("first", 0), "first", 0)
    ledger.last = of("first")
    announce(announcer, announcer.lead("second", 0), "second", 0)
    ledger.last = of("second", predecessors=("first",))
    announcer.lead("second", 1)


def test_who_has_led_and_was_overtaken_is_told_so(ledger: Ledger) -> None:
    announcer = Announcer(replace(SETTINGS, takeover=True))
    announce(announcer, announcer.lead("first", 0), "first", 0)
    ledger.last = of("second")
    with pytest.raises(OwnershipError, match="second has taken it over from this one"):
        announcer.lead("first", 1)


def test_a_lead_that_is_refused_is_closed(ledger: Ledger) -> None:
    ledger.last = of("another")
    with pytest.raises(OwnershipError):
        Announcer(SETTINGS).lead("q", 0)
    ledger.last = of("q", batch=3)  # the replay's second lead, too
    with pytest.raises(OwnershipError):
        Announcer(SETTINGS).lead("q", 1)
    assert len(MadeUpTransaction.made) == 2
    assert all_closed()


@pytest.mark.parametrize("raised", [LaneError("no answer"), KeyboardInterrupt()])
def test_a_producer_is_closed_when_the_ledger_does_not_answer(
    ledger: Ledger, raised: BaseException
) -> None:
    ledger.silent = raised
    with pytest.raises(type(raised)):
        Announcer(SETTINGS).lead("q", 0)
    assert all_closed()


def test_a_lead_is_closed_when_the_lanes_of_before_cannot_be_fenced(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.last = of("q", lanes_ever=3)
    announcer = Announcer(SETTINGS)
    lead = announcer.lead("q", 1)

    def refused(*_: Any, **__: Any) -> None:
        raise LaneError("no coordinator")

    monkeypatch.setattr(announcing, "open_transaction", refused)
    with pytest.raises(LaneError, match="no coordinator"):
        announcer.announce(lead, "q", 1, ONE_LANE)
    assert all_closed()


def test_a_manifest_that_is_refused_is_known_to_be_and_why_is_told_once(ledger: Ledger) -> None:
    announcer = Announcer(SETTINGS)
    assert not announcer.is_refused()
    ledger.refuses = RefusedError("Write on the ledger: not authorised")
    announcer.announce(announcer.lead("q", 0), "q", 0, ONE_LANE)
    wait_until(announcer.is_refused, Deadline(WAIT_S_MAX), "nobody was refused")
    with pytest.raises(RefusedError, match="not authorised"):
        announcer.confirm()
    announcer.confirm()  # nothing is left to be told
    assert not announcer.is_refused()
