"""Bounded waits of the sink. The sink stands alone, so it keeps its own small clock."""

import time


class Budget:
    def __init__(self, seconds: float) -> None:
        self._began = time.monotonic()
        self._ends = self._began + seconds

    def used_s(self) -> float:
        return time.monotonic() - self._began

    def left_s(self) -> float:
        return max(0.0, self._ends - time.monotonic())

    def spent(self) -> bool:
        return self.left_s() == 0.0


def pause(seconds: float) -> None:
    time.sleep(seconds)
