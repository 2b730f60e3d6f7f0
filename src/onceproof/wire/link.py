"""One client's connection through the proxy, and the broker's at its other end.

    client ──requests──▶ cut, look, ask the rules ──the same bytes──▶ broker
           ◀──────────── cut, look, ask the rules ◀──responses──────

A connection whose client has gone lives on while a frame of it is held: what was sent is on its
way, whether or not its sender still is.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from socket import SO_SNDBUF, SOL_SOCKET
from typing import NoReturn, Protocol

from onceproof.wire import decoding
from onceproof.wire.error_answers import error_answer
from onceproof.wire.events import Applied, Tell, trouble, undecoded
from onceproof.wire.facts import Facts, TopicNames, read_facts
from onceproof.wire.frames import (
    FrameCutter,
    FrameError,
    RequestHead,
    read_correlation_id,
    read_request_head,
)
from onceproof.wire.gates import Fate, Gates
from onceproof.wire.matching import Direction, Seen
from onceproof.wire.peers import NOBODY, Peer
from onceproof.wire.rulebook import RuleBook
from onceproof.wire.verdict import Answer, Disconnect, Drop, Hold, Verdict, Wait

READ_BYTES = 256 * 1024
# A large Produce or Fetch goes through in one piece each way, not in crumbs.
SOCKET_BYTES = 4 * 1024 * 1024
METADATA = "Metadata"
CLIENTS = "suspects"  # the listener of those that are no brokers
# How long an answer is waited for that nobody is there to be given.
LAST_ANSWER_S = 5.0


class Behind(Protocol):
    def __call__(self, port: int, listening: int, *, brokers: bool) -> Peer:
        """Who has the other end of a connection, by the ports of both ends."""
        ...


class Recorder(Protocol):
    def record(self, seen: Seen, verdict: Verdict, at_ns: int) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Route:
    """Where a listener of the proxy leads."""

    listener: str
    broker: int
    host: str
    port: int


@dataclass(frozen=True, kw_only=True)
class Switchboard:
    """What all links share."""

    book: RuleBook
    gates: Gates
    names: TopicNames
    recorder: Recorder
    tell: Tell
    behind: Behind


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request whose response has not come yet."""

    head: RequestHead
    facts: Facts | None


class _Ended(Exception):
    """This connection is over."""


class Link:
    def __init__(
        self,
        number: int,
        route: Route,
        shared: Switchboard,
        client: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        self._number = number
        self._route = route
        self._shared = shared
        self._from_client, self._to_client = client
        self._asked: dict[int, _Asked] = {}
        self._peer = NOBODY

    async def run(self) -> None:
        port, ours = (self._to_client.get_extra_info(end)[1] for end in ("peername", "sockname"))
        between_brokers = self._route.listener != CLIENTS
        self._peer = await asyncio.to_thread(
            self._shared.behind, port, ours, brokers=between_brokers
        )
        if not self._shared.book.admits(self._seen_nothing()):
            self._to_client.transport.abort()
            return
        try:
            from_broker, to_broker = await asyncio.open_connection(
                self._route.host, self._route.port, limit=SOCKET_BYTES
            )
        except OSError:
            self._to_client.transport.abort()  # as the broker itself would have answered
            return
        for writer in (to_broker, self._to_client):
            writer.get_extra_info("socket").setsockopt(SOL_SOCKET, SO_SNDBUF, SOCKET_BYTES)
        requests = asyncio.create_task(
            self._pump(self._from_client, to_broker, self._request), name="requests"
        )
        responses = asyncio.create_task(
            self._pump(from_broker, self._to_client, self._response), name="responses"
        )
        try:
            await asyncio.wait({requests, responses}, return_when=asyncio.FIRST_COMPLETED)
            if requests.done() and self._asked:
                await asyncio.wait({responses}, timeout=LAST_ANSWER_S)
        finally:
            for task in (requests, responses):
                task.cancel()
            await asyncio.gather(requests, responses, return_exceptions=True)
            for writer in (to_broker, self._to_client):
                writer.close()

    async def _pump(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        handle: Callable[[bytes, asyncio.StreamWriter], Awaitable[None]],
    ) -> None:
        cutter = FrameCutter()
        try:
            while data := await reader.read(READ_BYTES):
                for frame in cutter.feed(data):
                    await handle(frame, writer)
                if writer is self._to_client and writer.is_closing():
                    continue  # nobody is there; what the broker says is still looked at
                await writer.drain()
        except (ConnectionError, _Ended):
            pass
        except FrameError as error:
            self._shared.tell(trouble(str(error)))
        except Exception as error:  # noqa: BLE001 - ours, and it must not look like the suspect's
            self._shared.tell(trouble(f"the proxy failed: {error!r}"))

    async def _request(self, frame: bytes, to_broker: asyncio.StreamWriter) -> None:
        seen_ns = time.time_ns()
        head = read_request_head(frame)
        # Nothing to be asked: it is looked at while it is on its way already.
        is_free = self._shared.book.is_empty
        if is_free:
            to_broker.write(frame)
        facts = self._facts(lambda: decoding.decode_request(frame, head))
        asked = _Asked(head, facts)
        if facts is None or facts.acks != 0:  # what is never answered is not waited for
            self._asked[head.correlation_id] = asked
        seen = self._seen(Direction.REQUEST, frame, asked)
        verdict = self._ruling(seen, seen_ns)
        if is_free:
            return
        if isinstance(verdict, Answer):
            self._asked.pop(head.correlation_id, None)
            self._give(error_answer(head, facts, verdict.error_code))
            return
        if isinstance(verdict, Hold) and verdict.cut_client:
            self._to_client.transport.abort()
        if await self._may_pass(verdict):
            to_broker.write(frame)
        else:
            self._asked.pop(head.correlation_id, None)

    async def _response(self, frame: bytes, _to_client: asyncio.StreamWriter) -> None:
        seen_ns = time.time_ns()
        asked = self._asked.pop(read_correlation_id(frame), None)
        is_free = self._shared.book.is_empty
        if is_free and asked is not None:
            self._give(frame)
        if asked is None:  # cannot be told what it answers: none of ours to stop
            self._give(frame)
            return
        head = asked.head
        facts = self._facts(
            lambda: decoding.decode_response(frame, head.api_key, head.version),
            learn=decoding.api_name(head.api_key) == METADATA,
        )
        merged = None if facts is None or asked.facts is None else merge(asked.facts, facts)
        seen = self._seen(Direction.RESPONSE, frame, _Asked(head, merged))
        verdict = self._ruling(seen, seen_ns)
        if is_free:
            return
        if await self._may_pass(verdict):
            self._give(frame)

    def _give(self, frame: bytes) -> None:
        if not self._to_client.is_closing():
            self._to_client.write(frame)

    def _facts(self, decode: Callable[[], object], *, learn: bool = False) -> Facts | None:
        try:
            entity = decode()
        except decoding.DecodingError:
            return None
        if learn:
            self._shared.names.learn(entity)
        return read_facts(entity, self._shared.names)

    def _ruling(self, seen: Seen, at_ns: int) -> Verdict:
        shared = self._shared
        ruling = shared.book.rule_on(seen, time.monotonic())
        shared.recorder.record(seen, ruling.verdict, at_ns)
        if ruling.undecoded_for:
            shared.tell(undecoded(seen, ruling.undecoded_for))
        if ruling.by:
            shared.tell(Applied(seen=seen, verdict=ruling.verdict, by=ruling.by).to_json())
        return ruling.verdict

    async def _may_pass(self, verdict: Verdict) -> bool:
        """When its time has come; False: never."""
        match verdict:
            case Wait(seconds=seconds):
                await asyncio.sleep(seconds)
            case Hold(by=name):
                fate = await self._shared.gates.wait(name)
                if fate is Fate.CUT:
                    self._cut()
                return fate is Fate.FORWARD
            case Drop():
                return False
            case Disconnect():
                self._cut()
        return True

    def _cut(self) -> NoReturn:
        self._to_client.transport.abort()
        raise _Ended

    def _seen(self, direction: Direction, frame: bytes, asked: _Asked) -> Seen:
        head = asked.head
        return replace(
            self._seen_nothing(),
            direction=direction,
            client_id=head.client_id,
            api=decoding.api_name(head.api_key),
            version=head.version,
            correlation_id=head.correlation_id,
            size=len(frame),
            facts=asked.facts,
        )

    def _seen_nothing(self) -> Seen:
        return Seen(
            direction=Direction.REQUEST,
            listener=self._route.listener,
            broker=self._route.broker,
            connection=self._number,
            client_id=None,
            instance=self._peer.instance,
            start=self._peer.start,
            sender=self._peer.broker,
            api="",
            version=0,
            correlation_id=0,
            size=0,
            facts=None,
        )


def merge(request: Facts, response: Facts) -> Facts:
    """A response has the facts of its request, and its own besides. Pure."""
    own = {
        name: value
        for name in Facts.__slots__
        if (value := getattr(response, name)) not in (None, ())
    }
    return replace(request, **own)
