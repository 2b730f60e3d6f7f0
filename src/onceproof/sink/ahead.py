"""Runs on the driver. Work in the background: beside Spark's tasks, or ahead of the next batch."""

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from onceproof.sink.budget import pause

T = TypeVar("T")

AGE_S_MAX = 300.0  # connections go idle, transactional ids expire
# InitProducerId right after a commit is refused until the markers are written: not at once, then.
START_AFTER_S = 0.03


class Background(Generic[T]):
    """One call in a thread of its own; `result` waits for it and hands on what it raised."""

    def __init__(self, call: Callable[[], T]) -> None:
        self._call = call
        self._returned: list[T] = []
        self._raised: Exception | None = None
        # A daemon: an end of the program does not wait for a cluster that is gone.
        self._thread = threading.Thread(target=self._run, daemon=True, name="onceproof-sink")
        self._thread.start()

    def result(self) -> T:
        self._thread.join()
        if self._raised is not None:
            raise self._raised
        return self._returned[0]

    def _run(self) -> None:
        try:
            self._returned.append(self._call())
        except Exception as error:  # noqa: BLE001  (handed on by `result`)
            self._raised = error


class Ahead(Generic[T]):
    """A thing made before it is wanted. One that failed, or grew old, is made anew then."""

    def __init__(self, make: Callable[[], T], discard: Callable[[T], None]) -> None:
        self._make = make
        self._discard = discard
        self._born = time.monotonic()
        self._made = Background(self._make_soon)

    def take(self) -> T:
        """What was made ahead, or one made now."""
        try:
            made = self._made.result()
        except Exception:  # noqa: BLE001  (told when it happens again)
            return self._make()
        if time.monotonic() - self._born <= AGE_S_MAX:
            return made
        self._discard(made)
        return self._make()

    def drop(self) -> None:
        """Not wanted any more; ends in the background."""
        Background(lambda: self._discard(self._made.result()))

    def _make_soon(self) -> T:
        pause(START_AFTER_S)
        return self._make()
