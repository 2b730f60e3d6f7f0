"""Frames that are held, by the name of the rule that holds them."""

import asyncio
from collections import defaultdict
from enum import StrEnum


class Fate(StrEnum):
    """Of a frame that was held."""

    FORWARD = "forward"
    DROP = "drop"
    CUT = "cut"  # lost with its connection


class Gates:
    def __init__(self) -> None:
        self._waiting: dict[str, set[asyncio.Future[Fate]]] = defaultdict(set)

    async def wait(self, name: str) -> Fate:
        waiting: asyncio.Future[Fate] = asyncio.get_running_loop().create_future()
        self._waiting[name].add(waiting)
        try:
            return await waiting
        finally:
            self._waiting[name].discard(waiting)

    def release(self, name: str, fate: Fate = Fate.FORWARD) -> int:
        """How many frames were held."""
        held = [waiting for waiting in self._waiting.pop(name, ()) if not waiting.done()]
        for waiting in held:
            waiting.set_result(fate)
        return len(held)

    def held(self, name: str) -> int:
        return len(self._waiting.get(name, ()))
