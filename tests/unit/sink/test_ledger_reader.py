"""A reader that hears nothing is replaced by a new one; what a broker says is believed at once."""

from typing import Any

import pytest

from onceproof.sink.errors import FencedError, LaneError, RefusedError, SilentError
from onceproof.sink.ledger import reader as room
from onceproof.sink.ledger.reader import (
    SILENCE_S_MAX,
    LastWord,
    last_entry,
    last_word,
    require_end,
)

SETTINGS: Any = "settings"


class MadeUpSettings:
    ledger_topic = "s.ledger"


class Reader:
    """Says what is next in line, whichever reader it is."""

    line: list[Exception | None]
    made: list["Reader"]
    ends: list[int | Exception]

    def __init__(self, _settings: Any) -> None:
        self.asked: list[float | None] = []
        self.is_closed = False
        Reader.made.append(self)

    def last_word(self, _partition: int, silence_s: float | None = None) -> LastWord:
        self.asked.append(silence_s)
        said = Reader.line.pop(0)
        if said is not None:
            raise said
        return LastWord(entry=None, end=0)

    def end(self, _partition: int) -> int:
        said = Reader.ends.pop(0)
        if isinstance(said, Exception):
            raise said
        return said

    def close(self) -> None:
        self.is_closed = True


@pytest.fixture(autouse=True)
def readers(monkeypatch: pytest.MonkeyPatch) -> type[Reader]:
    Reader.line, Reader.made = [], []
    monkeypatch.setattr(room, "LedgerReader", Reader)
    monkeypatch.setattr(room, "_idle", {})
    return Reader


def test_a_reader_is_kept_and_one_that_hears_nothing_is_replaced(readers: type[Reader]) -> None:
    readers.line = [None, SilentError(LaneError("no answer")), None, None]
    for _ in range(3):
        assert last_entry(SETTINGS, 0) is None
    first, second = readers.made
    assert first.asked == [SILENCE_S_MAX, SILENCE_S_MAX]
    assert first.is_closed
    # The new one has all the time there is, and is kept in turn.
    assert second.asked == [None, SILENCE_S_MAX]
    assert not second.is_closed


def test_who_asks_for_a_new_reader_gets_one_and_it_is_the_next_to_be_used(
    readers: type[Reader],
) -> None:
    readers.line = [None] * 3
    last_word(SETTINGS, 0)
    last_word(SETTINGS, 0, new=True)
    last_word(SETTINGS, 0)
    assert [len(each.asked) for each in readers.made] == [1, 2]


def test_silence_of_a_new_one_and_any_other_failure_are_told(readers: type[Reader]) -> None:
    readers.line = [SilentError(LaneError("no answer")), SilentError(RefusedError("no such topic"))]
    with pytest.raises(RefusedError, match="no such topic"):
        last_entry(SETTINGS, 0)
    readers.line = [LaneError("an open transaction holds it")]
    with pytest.raises(LaneError, match="an open transaction"):
        last_entry(SETTINGS, 0)
    assert all(each.is_closed for each in readers.made)
    assert len(readers.made) == 3


def test_an_end_that_is_told_too_low_is_asked_for_again_by_a_new_reader(
    readers: type[Reader],
) -> None:
    readers.ends = [6, 6, 7]  # first of a broker that leads no more
    require_end(MadeUpSettings, 0, 7)
    assert [each.is_closed for each in readers.made] == [True, True, False]


def test_a_reader_that_hears_nothing_of_an_end_is_replaced(readers: type[Reader]) -> None:
    readers.ends = [SilentError(LaneError("no answer")), 7]
    require_end(MadeUpSettings, 0, 7)
    assert [each.is_closed for each in readers.made] == [True, False]


@pytest.mark.parametrize(
    ("said", "told"),
    [(SilentError(LaneError("no answer")), "no answer"), (6, "ends at 6; expected 7")],
)
def test_an_end_that_nobody_tells_is_asked_for_only_so_long(
    said: Exception | int, told: str, readers: type[Reader], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "END_S_MAX", 0.3)
    readers.ends = [said] * 1000
    with pytest.raises(LaneError, match=told) as raised:
        require_end(MadeUpSettings, 0, 7)
    assert type(raised.value) is LaneError
    assert len(readers.made) > 1
    assert all(each.is_closed for each in readers.made)


def test_an_end_that_may_not_be_asked_for_is_told_at_once(readers: type[Reader]) -> None:
    readers.ends = [RefusedError("not authorised")]
    with pytest.raises(RefusedError, match="not authorised"):
        require_end(MadeUpSettings, 0, 7)


def test_an_end_beyond_the_own_entry_means_that_another_one_was_not_seen(
    readers: type[Reader],
) -> None:
    """As a rule it is the end of our own transaction: a twin has fenced it."""
    readers.ends = [9]
    with pytest.raises(FencedError, match="ends at 9; expected 7"):
        require_end(MadeUpSettings, 0, 7)
