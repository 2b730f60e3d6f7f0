"""Who leads, and what becomes of a lead that is refused: its producer is closed."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from onceproof.deadline import Deadline, wait_until
from onceproof.sink import announcing, writing
from onceproof.sink.announcing import Announcer, Lead
from onceproof.sink.cut import Lanes
from onceproof.sink.errors import LaneError, OwnershipError, RefusedError
from onceproof.sink.ledger.entries import Cut, Manifest, read_entry
from onceproof.sink.ledger.reader import LastWord
from onceproof.sink.producing.transaction import Record
from onceproof.sink.rows import LaneRows
from onceproof.sink.settings import Settings

SETTINGS = Settings(sink_id="s", topic="out", lanes=1, ledger_topic="s.ledger", client=())
WAIT_S_MAX = 10.0
ONE_LANE = Lanes(cut=Cut.KEYS, count=1)


class MadeUpTransaction:
    made: list["MadeUpTransaction"]

    def __init__(self, configuration: Mapping[str, str], **__: Any) -> None:
        self.transactional_id = configuration["transactional.id"]
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
        self.end = 0  # as a new reader finds it
        self.fenced_before: list[str] = []  # when a manifest was committed

    def last_word(self, _settings: Settings, _partition: int, *, new: bool = False) -> LastWord:
        if self.silent is not None:
            raise self.silent
        return LastWord(entry=self.last, end=self.end if new else 0)

    def commit_entry(self, _transaction: Any, record: Record, *_: Any) -> None:
        if self.refuses is not None:
            raise self.refuses
        entry = read_entry(record.value or b"")
        assert isinstance(entry, Manifest)
        self.last = entry
        self.fenced_before = [each.transactional_id for each in MadeUpTransaction.made]


@pytest.fixture
def ledger(monkeypatch: pytest.MonkeyPatch) -> Ledger:
    found = Ledger()
    MadeUpTransaction.made = []
    monkeypatch.setattr(announcing, "open_transaction", MadeUpTransaction)
    monkeypatch.setattr(announcing, "last_word", found.last_word)
    monkeypatch.setattr(announcing, "last_entry", lambda _settings, _partition: None)
    monkeypatch.setattr(announcing, "commit_entry", found.commit_entry)
    monkeypatch.setattr(writing, "commit_entry", found.commit_entry)
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
    announce(announcer, announcer.lead("second", 0), "second", 0)
    assert ledger.last is not None
    assert (ledger.last.query, ledger.last.predecessors) == ("second", ("first",))
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


@pytest.mark.parametrize(
    ("last", "batch"),
    [(of("another"), 0), (of("q", batch=1), 3), (None, 3)],
    ids=["another query's", "batches between are missing", "empty"],
)
def test_nobody_is_sent_away_on_the_word_of_a_broker_that_leads_no_more(
    ledger: Ledger, last: Manifest | None, batch: int
) -> None:
    """A new reader finds another end: what was read was old."""
    ledger.last, ledger.end = last, 2
    with pytest.raises(LaneError, match="a broker that did not lead it any more, and said: sink s"):
        Announcer(SETTINGS).lead("q", batch)
    assert all_closed()


def whole(announcer: Announcer, lead: Lead, query: str, batch: int) -> None:
    announcer.write_whole(lead, query, batch, LaneRows(()))


@pytest.mark.parametrize(
    ("write", "fenced"), [(whole, ["s-lane-0", "s-lane-1"]), (announce, ["s-lane-1"])]
)
def test_lanes_of_before_are_fenced_when_the_manifest_is_committed_and_once(
    ledger: Ledger, write: Callable[[Announcer, Lead, str, int], None], fenced: list[str]
) -> None:
    """Sooner, a task of before could open its lane again, and still find its own manifest."""
    ledger.last = of("before", lanes_ever=2)
    announcer = Announcer(replace(SETTINGS, takeover=True))
    for batch in (0, 1):
        lead = announcer.lead("q", batch)
        made = len(MadeUpTransaction.made)
        write(announcer, lead, "q", batch)
        assert len(ledger.fenced_before) == made
        then = [each.transactional_id for each in MadeUpTransaction.made[made:]]
        assert then == (fenced if batch == 0 else [])
        assert ledger.last is not None
        assert (ledger.last.batch, ledger.last.lanes_ever) == (batch, 2)


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
        announce(announcer, lead, "q", 1)
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
