"""What is made ahead is used once, and made anew where it failed or grew old."""

import threading
from collections.abc import Callable

import pytest

from onceproof.sink import ahead
from onceproof.sink.ahead import Ahead


def numbers(*, fail_first: bool = False) -> Callable[[], int]:
    made: list[int] = []

    def make() -> int:
        made.append(len(made))
        if fail_first and len(made) == 1:
            raise OSError("no connection")
        return made[-1]

    return make


def test_what_was_made_ahead_is_handed_out() -> None:
    discarded: list[int] = []
    assert Ahead(numbers(), discarded.append).take() == 0
    assert discarded == []


def test_what_failed_ahead_is_made_when_it_is_wanted() -> None:
    assert Ahead(numbers(fail_first=True), lambda _: None).take() == 1


def test_what_grew_old_is_thrown_away_and_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "AGE_S_MAX", 0.0)
    discarded: list[int] = []
    old = Ahead(numbers(), discarded.append)
    old._expiry.result()
    assert discarded == [0]
    assert old.take() == 1
    assert discarded == [0]


def test_what_is_dropped_before_it_was_begun_is_never_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ahead, "START_AFTER_S", 0.5)  # time enough on a busy machine
    make = numbers()
    unwanted = Ahead(make, lambda _: None)
    unwanted.drop()
    unwanted._expiry.result()
    with pytest.raises(ahead._Unwanted):
        unwanted._made.result()
    assert make() == 0  # nobody has made one yet


def test_what_is_dropped_after_it_was_made_is_thrown_away() -> None:
    gone = threading.Event()
    unwanted = Ahead(numbers(), lambda _: gone.set())
    unwanted._made.result()
    unwanted.drop()
    assert gone.wait(5.0)
