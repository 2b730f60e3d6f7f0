"""Frames that are held, by the name of the rule that holds them."""

import asyncio
from collections import defaultdict


class Gates:
    def __init__(self) -> None:
        self._waiting: dict[str, set[asyncio.Future[bool]]] = defaultdict(set)

    async def wait(self, name: str) -> bool:
        """True: the frame goes on its way; False: it is dropped."""
        waiting: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting[name].add(waiting)
        try:
            return await waiting
        finally:
            self._waiting[name].discard(waiting)

    def release(self, name: str, *, forward: bool = True) -> int:
        """How many frames were held."""
        held = [waiting for waiting in self._waiting.pop(name, ()) if not waiting.done()]
        for waiting in held:
            waiting.set_result(forward)
        return len(held)

    def held(self, name: str) -> int:
        return len(self._waiting.get(name, ()))
