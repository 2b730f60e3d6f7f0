"""The proxy as seen by a trial: started, told its rules, listened to.

with Wire.start(record=…, log=…, seed=1, take_ports=…) as wire:
    cluster = LocalCluster.start(…, advertise=wire.advertise)
    wire.add({"name": "end", "rule": "hold", "match": {"api": "EndTxn", "occurrence": 3}})
    frame = wire.await_applied("end", Deadline(60))
    instance.kill()
    wire.release("end")
"""

import contextlib
import itertools
import json
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from onceproof.deadline import Deadline, pause
from onceproof.errors import OnceproofError, UsageError
from onceproof.process import Child, spawn
from onceproof.wire.gates import Fate

FreePorts = Callable[[int], list[int]]  # the cluster's own: nobody else takes them meanwhile
HOST = "127.0.0.1"
START_S_MAX = 30.0
ANSWER_S_MAX = 30.0
ENDED_LOOK_S = 0.02


class WireError(OnceproofError):
    """The proxy did not do what it was told, or is gone."""


class Wire:
    """Safe for several threads."""

    def __init__(self, child: Child, control: socket.socket, ports: FreePorts) -> None:
        self._child = child
        self._control = control
        self._ports = ports
        self._numbers = itertools.count(1)
        self._news = threading.Condition()
        self._answers: dict[int, dict[str, Any]] = {}
        self._troubles: list[str] = []
        self._first_applied: dict[str, dict[str, Any]] = {}  # rule → frame
        self._is_gone = False
        threading.Thread(target=self._listen, daemon=True, name="onceproof-wire").start()

    @staticmethod
    def start(*, record: Path, log: Path, seed: int, take_ports: FreePorts) -> "Wire":
        """`take_ports` gives ports that nobody else will take meanwhile."""
        with socket.create_server((HOST, 0)) as server:
            server.settimeout(START_S_MAX)
            order = {"control": server.getsockname()[1], "record": str(record), "seed": seed}
            child = spawn(
                "wire proxy",
                [sys.executable, "-m", "onceproof.wire.proxy", json.dumps(order)],
                log=log,
            )
            try:
                control, _ = server.accept()
            except TimeoutError as error:
                child.kill()
                raise WireError(f"the proxy did not start; {child.log_tail(5)}") from error
        return Wire(child, control, take_ports)

    def __enter__(self) -> "Wire":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """What was recorded is on disk after this."""
        with contextlib.suppress(OSError):  # it may be gone already
            # Not `close`: the thread that listens holds the connection open.
            self._control.shutdown(socket.SHUT_RDWR)
        ended = Deadline(ANSWER_S_MAX)
        while self._child.is_running() and not ended.expired():
            pause(ENDED_LOOK_S)
        self._control.close()
        self._child.stop(Deadline(0))

    def advertise(self, broker: int, listener: str, bound: str) -> str:
        """For LocalCluster.start: a listener of ours that leads there."""
        host, _, target = bound.rpartition(":")
        (port,) = self._ports(1)
        route = {"listener": listener.lower(), "broker": broker, "host": host, "port": int(target)}
        self._ask({"do": "listen", "port": port, "to": route})
        return f"{HOST}:{port}"

    def vanish(self, place: Mapping[str, Any]) -> None:
        """Whoever connects to the listener there (broker, listener) hears nothing, until `appear`.
        Connections that are open stay.
        """
        self._ask({"do": "vanish", **place})

    def appear(self, place: Mapping[str, Any]) -> None:
        self._ask({"do": "appear", **place})

    def know(self, instance: int, pid: int, start: int = 1) -> None:
        """From now on connections of this process and its children are that instance's."""
        self._ask({"do": "know", "peer": {"instance": instance, "start": start}, "pid": pid})

    def know_broker(self, broker: int, pid: int) -> None:
        self._ask({"do": "know", "peer": {"broker": broker}, "pid": pid})

    def add(self, rule: Mapping[str, Any]) -> None:
        self._ask({"do": "add", "rule": dict(rule)})

    def remove(self, name: str) -> dict[str, int]:
        """What it held is released. How often it fitted, was applied, could not be told."""
        return self._ask({"do": "remove", "name": name})

    def release(self, name: str, fate: Fate = Fate.FORWARD) -> int:
        """How many frames it held."""
        return int(self._ask({"do": "release", "name": name, "fate": fate})["released"])

    def clear(self) -> None:
        """No rule is in force after this, and nothing held."""
        self._ask({"do": "clear"})

    def counts(self, name: str) -> dict[str, int]:
        return self._ask({"do": "counts", "name": name})

    def flush(self) -> dict[str, int]:
        """What has been seen so far is on disk."""
        return self._ask({"do": "flush"})

    def record_into(self, directory: Path) -> None:
        """From now on; what was seen before is on disk where it belongs."""
        self._ask({"do": "record", "into": str(directory)})
        with self._news:
            self._troubles.clear()

    @property
    def is_gone(self) -> bool:
        return self._is_gone

    def await_answered(self, instance: int, start: int, deadline: Deadline) -> bool:
        """Whether that start of an instance has got an answer of a broker in time."""
        name = f"answered-{next(self._numbers)}"
        match = {"instance": instance, "start": start, "direction": "response"}
        self.add({"name": name, "rule": "watch", "match": match})
        try:
            while self.counts(name)["fitted"] == 0:
                if deadline.expired():
                    return False
                pause(ENDED_LOOK_S)
            return True
        finally:
            self.remove(name)

    def require_alive(self) -> None:
        if self._is_gone:
            raise WireError(f"the proxy is gone; {self._child.log_tail(5)}")

    def troubles(self) -> list[str]:
        """What it could not follow."""
        with self._news:
            return list(self._troubles)

    def await_applied(self, rule: str, deadline: Deadline) -> dict[str, Any] | None:
        """The first frame that the rule was applied to; None if there was none in time."""
        found: dict[str, Any] | None = self._await(lambda: self._first_applied.get(rule), deadline)
        return found

    def _ask(self, command: Mapping[str, Any]) -> dict[str, Any]:
        number = next(self._numbers)
        try:
            self._control.sendall(json.dumps({**command, "id": number}).encode() + b"\n")
        except OSError as error:
            raise WireError(f"the proxy is gone; {self._child.log_tail(5)}") from error
        answer = self._await(lambda: self._answers.pop(number, None), Deadline(ANSWER_S_MAX))
        if answer is None:
            raise WireError(f"no answer to {command}; {self._child.log_tail(5)}")
        if "error" in answer:
            raise UsageError(answer["error"])
        return {name: value for name, value in answer.items() if name not in ("event", "id")}

    def _await(self, ask: Callable[[], Any], deadline: Deadline) -> Any:
        with self._news:
            while (found := ask()) is None and not self._is_gone:
                if not self._news.wait(deadline.remaining_s()):
                    return ask()
            return found

    def _listen(self) -> None:
        try:
            with self._control.makefile("rb") as lines:
                for line in lines:
                    self._hear(json.loads(line))
        except (OSError, ValueError):
            pass  # closed by us, or cut off in the middle of a line
        with self._news:
            self._is_gone = True
            self._news.notify_all()

    def _hear(self, message: dict[str, Any]) -> None:
        with self._news:
            match message["event"]:
                case "answer":
                    self._answers[message["id"]] = message
                case "trouble":
                    self._troubles.append(message["told"])
                case "applied":
                    for rule in message["rules"]:
                        self._first_applied.setdefault(rule, message["frame"])
            self._news.notify_all()
