"""One time budget per wait. The only home of `time.sleep`: all else waits for a condition."""

import time
from collections.abc import Callable
from typing import TypeVar

from onceproof.errors import DeadlineExpired

Value = TypeVar("Value")


class Deadline:
    """A budget in seconds that many waits can share; it starts to run when it is made."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._started = time.monotonic()

    def elapsed_s(self) -> float:
        return time.monotonic() - self._started

    def remaining_s(self) -> float:
        return max(0.0, self.seconds - self.elapsed_s())

    def expired(self) -> bool:
        return self.remaining_s() == 0.0

    def at_most(self, seconds: float) -> "Deadline":
        """A shorter budget inside this one."""
        return Deadline(min(seconds, self.remaining_s()))


def pause(seconds: float) -> None:
    time.sleep(seconds)


def wait_until(
    condition: Callable[[], Value | None],
    deadline: Deadline,
    message: Callable[[], str] | str,
    pause_s: float = 0.05,
) -> Value:
    """Ask `condition` until it answers something true; say `message` when the budget runs out."""
    while True:
        value = condition()
        if value:
            return value
        if deadline.expired():
            text = message if isinstance(message, str) else message()
            raise DeadlineExpired(f"{text} (waited {deadline.seconds:.0f} s)")
        time.sleep(min(pause_s, max(deadline.remaining_s(), 0.001)))
