"""Runs on the driver. What the next batch will want, made while Spark is between two batches."""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, TypeVar

from onceproof.sink.background import Background
from onceproof.sink.budget import pause

T = TypeVar("T")

AGE_S_MAX = 60.0
# InitProducerId right after a commit is refused until the markers are written: not at once, then.
START_AFTER_S = 0.03


class _Unwanted(Exception):
    pass


class Ahead(Generic[T]):
    """A thing made before it is wanted. One that failed, or was not wanted in time, is made anew.

    Its thread lives until the thing is taken or has grown old, and then discards it: a query that
    ended, or triggers rarely, does not keep connections open.
    """

    def __init__(self, make: Callable[[], T], discard: Callable[[T], None]) -> None:
        self._make = make
        self._discard = discard
        self._lock = threading.Lock()
        self._is_unwanted = False
        self._decided = threading.Event()  # taken, dropped or too old
        self._made = Background(self._make_soon)
        self._expiry = Background(self._discard_when_old)

    def take(self) -> T:
        """What was made ahead, or one made now."""
        if self._decide():
            with suppress(Exception):  # told when it happens again
                return self._made.result()
        return self._make()

    def drop(self) -> None:
        """Not wanted any more: never made if not yet begun, else discarded in the background."""
        self._is_unwanted = True
        if self._decide():
            Background(self._discard_made)

    def end(self) -> None:
        """Not wanted any more, and nothing of it goes on after this."""
        self._is_unwanted = True
        if self._decide():
            self._discard_made()

    def _make_soon(self) -> T:
        pause(START_AFTER_S)
        if self._is_unwanted:
            raise _Unwanted
        return self._make()

    def _discard_when_old(self) -> None:
        self._decided.wait(AGE_S_MAX)
        if self._decide():
            self._discard_made()

    def _decide(self) -> bool:
        """Whether it was open until now what becomes of it."""
        with self._lock:
            was_open = not self._decided.is_set()
            self._decided.set()
        return was_open

    def _discard_made(self) -> None:
        with suppress(Exception):  # never made: nothing to discard
            self._discard(self._made.result())
