"""The proxy process: listeners before brokers, and a control channel to whoever started it.

    python -m onceproof.wire.proxy '{"control": PORT, "record": "…", "seed": 1}'

It connects to the control port of its starter. What comes there are commands, a JSON object a line:
{"do": "listen", "port": …, "to": {…}}, vanish, appear, add, remove, release, clear, counts, know,
flush, record;
what goes back are answers, each with the `id` of its command, and events. It ends when that
connection does: whoever started it is gone, or has no use for it any more.
"""

import asyncio
import json
import random
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from onceproof.errors import OnceproofError, unknown_name
from onceproof.wire.black_hole import BlackHole
from onceproof.wire.events import trouble
from onceproof.wire.facts import TopicNames
from onceproof.wire.gates import Fate, Gates
from onceproof.wire.link import SOCKET_BYTES, Link, Route, Switchboard
from onceproof.wire.peers import Peer, Peers
from onceproof.wire.recorder import ParquetRecorder
from onceproof.wire.rulebook import RuleBook
from onceproof.wire.rules.catalog import make_rule

HOST = "127.0.0.1"
FLUSH_EVERY_S = 1.0
BACKLOG = 512
LINE_BYTES_MAX = 2**20
DOORS = ("listen", "vanish", "appear")
Place = tuple[int, str]  # broker, listener


class Proxy:
    def __init__(self, order: Mapping[str, Any]) -> None:
        self._control_port = int(order["control"])
        self._control: asyncio.StreamWriter | None = None
        self._servers: dict[Place, asyncio.Server] = {}
        self._doors: dict[Place, tuple[Route, int]] = {}  # where each leads, and its own port
        self._black_holes: dict[Place, BlackHole] = {}
        self._recorder = ParquetRecorder(Path(order["record"]))
        self._peers = Peers()
        self._shared = Switchboard(
            book=RuleBook(random.Random(order["seed"])),
            gates=Gates(),
            names=TopicNames(),
            recorder=self._recorder,
            tell=self._say,
            behind=self._peers.behind,
        )
        self._connections = 0
        self._links: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        commands, self._control = await asyncio.open_connection(
            HOST, self._control_port, limit=LINE_BYTES_MAX
        )
        flushing = asyncio.create_task(self._flush_now_and_then())
        try:
            await self._obey(commands)
        finally:
            flushing.cancel()
            for hole in self._black_holes.values():
                hole.close()
            for server in self._servers.values():
                server.close()
            for link in self._links:
                link.cancel()
            await asyncio.gather(*self._links, return_exceptions=True)
            self._recorder.flush()

    async def _listen(self, route: Route, port: int) -> None:
        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self._connections += 1
            link = Link(self._connections, route, self._shared, (reader, writer))
            task = asyncio.current_task()
            assert task is not None
            self._links.add(task)
            try:
                await link.run()
            finally:
                self._links.discard(task)

        place = (route.broker, route.listener)
        self._doors[place] = route, port
        self._servers[place] = await asyncio.start_server(
            connected, HOST, port, backlog=BACKLOG, limit=SOCKET_BYTES
        )

    async def _vanish(self, place: Place) -> None:
        self._servers[place].close()
        try:
            self._black_holes[place] = BlackHole(HOST, self._doors[place][1])
        except OnceproofError:
            await self._listen(*self._doors[place])
            raise

    async def _appear(self, place: Place) -> None:
        self._black_holes.pop(place).close()
        await self._listen(*self._doors[place])

    async def _obey(self, commands: asyncio.StreamReader) -> None:
        while line := await commands.readline():
            command = json.loads(line)
            try:
                answer = await self._do(command)
            except (OnceproofError, OSError) as error:
                answer = {"error": str(error)}
            self._say({"event": "answer", "id": command.get("id"), **answer})

    async def _do(self, command: Mapping[str, Any]) -> dict[str, Any]:
        if command.get("do") in DOORS:
            await self._at_the_door(command)
            return {}
        commands: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
            "add": self._add,
            "remove": self._remove,
            "release": self._release,
            "clear": self._clear,
            "counts": self._counts,
            "know": self._know,
            "flush": self._flush,
            "record": self._record,
        }
        name = str(command.get("do"))
        if name not in commands:
            raise unknown_name("command", name, [*DOORS, *commands])
        return commands[name](command)

    async def _at_the_door(self, command: Mapping[str, Any]) -> None:
        if command["do"] == "listen":
            await self._listen(Route(**command["to"]), int(command["port"]))
            return
        place = int(command["broker"]), str(command["listener"])
        if place not in self._doors or (place in self._black_holes) != (command["do"] == "appear"):
            raise OnceproofError(f"there is no listener that could {command['do']} at {place}")
        if command["do"] == "appear":
            await self._appear(place)
        else:
            await self._vanish(place)

    def _add(self, command: Mapping[str, Any]) -> dict[str, Any]:
        self._shared.book.add(make_rule(command["rule"]))
        return {}

    def _remove(self, command: Mapping[str, Any]) -> dict[str, Any]:
        counts = self._shared.book.remove(command["name"])
        return {**asdict(counts), "released": self._shared.gates.release(command["name"])}

    def _release(self, command: Mapping[str, Any]) -> dict[str, Any]:
        released = self._shared.gates.release(command["name"], Fate(command["fate"]))
        return {"released": released}

    def _clear(self, _command: Mapping[str, Any]) -> dict[str, Any]:
        for name in self._shared.book.names():
            self._shared.book.remove(name)
            self._shared.gates.release(name)
        return {}

    def _counts(self, command: Mapping[str, Any]) -> dict[str, Any]:
        counts = self._shared.book.counts(command["name"])
        return {**asdict(counts), "held": self._shared.gates.held(command["name"])}

    def _know(self, command: Mapping[str, Any]) -> dict[str, Any]:
        self._peers.know(Peer(**command["peer"]), int(command["pid"]))
        return {}

    def _flush(self, _command: Mapping[str, Any]) -> dict[str, Any]:
        self._recorder.flush()
        return {"recorded": self._recorder.recorded, "undecoded": self._recorder.undecoded}

    def _record(self, command: Mapping[str, Any]) -> dict[str, Any]:
        self._recorder.turn_to(Path(command["into"]))
        return {}

    def _say(self, message: dict[str, Any]) -> None:
        assert self._control is not None
        if not self._control.is_closing():
            self._control.write(json.dumps(message).encode() + b"\n")

    async def _flush_now_and_then(self) -> None:
        while True:
            await asyncio.sleep(FLUSH_EVERY_S)
            try:
                self._recorder.flush()
            except OSError as error:
                self._say(trouble(f"frames could not be recorded: {error}"))


if __name__ == "__main__":
    asyncio.run(Proxy(json.loads(sys.argv[1])).run())
