"""One call in a thread of its own: beside Spark's tasks, or beside the rows of a task."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Background(Generic[T]):
    """`result` waits for it and hands on what it raised."""

    def __init__(self, call: Callable[[], T]) -> None:
        self._call = call
        self._returned: list[T] = []
        self._raised: Exception | None = None
        # A daemon: an end of the program does not wait for a cluster that is gone.
        self._thread = threading.Thread(target=self._run, daemon=True, name="onceproof-sink")
        self._thread.start()

    def is_running(self) -> bool:
        return self._thread.is_alive()

    def has_failed(self) -> bool:
        return self._raised is not None

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
