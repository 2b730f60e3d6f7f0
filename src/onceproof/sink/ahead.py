"""Runs on the driver. Things made ahead, in the background, for the next batch to find ready.

A thing that could not be made, or has become too old, is made anew when it is wanted.
"""

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from onceproof.sink.budget import pause

T = TypeVar("T")

AGE_S_MAX = 300.0  # connections go idle, transactional ids expire
# InitProducerId right after a commit is refused until the markers are written: not at once, then.
START_AFTER_S = 0.03


class Ahead(Generic[T]):
    def __init__(self, make: Callable[[], T], discard: Callable[[T], None]) -> None:
        self._make = make
        self._discard = discard
        self._made: list[T] = []
        self._born = time.monotonic()
        # A daemon: an end of the program does not wait for a cluster that is gone.
        self._thread = threading.Thread(target=self._run, daemon=True, name="onceproof-ahead")
        self._thread.start()

    def take(self) -> T:
        """What was made ahead, or one made now."""
        self._thread.join()
        if self._made and time.monotonic() - self._born <= AGE_S_MAX:
            return self._made.pop()
        self._throw_away()
        return self._make()

    def drop(self) -> None:
        """Not wanted any more; ends in the background."""
        threading.Thread(target=self._join_and_throw_away, daemon=True).start()

    def _run(self) -> None:
        pause(START_AFTER_S)
        try:
            self._made.append(self._make())
        except Exception:  # noqa: BLE001  (told when it happens again in `take`)
            return

    def _join_and_throw_away(self) -> None:
        self._thread.join()
        self._throw_away()

    def _throw_away(self) -> None:
        while self._made:
            self._discard(self._made.pop())
