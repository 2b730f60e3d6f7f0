"""What a trial asks of a database server, whichever it is."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

TakePorts = Callable[[int], list[int]]
HOST = "127.0.0.1"


class Server(Protocol):
    """It runs; `stop` ends it, and so does the end of this process."""

    def new_space(self) -> str:
        """A place of its own for one trial, empty: its address, as the contract tells it."""

    def is_running(self) -> bool: ...

    def require_alive(self) -> None:
        """Raise with the cause if the process has ended."""

    def stop(self) -> None: ...


@dataclass(frozen=True, kw_only=True)
class ServerOrder:
    """What a server is given: a folder for its data, one for its log, and who gives out ports."""

    directory: Path
    logs: Path
    take_ports: TakePorts


@dataclass(frozen=True, kw_only=True)
class Database:
    """One kind of server."""

    name: str
    start: Callable[[ServerOrder], Server]
    version: Callable[[], str]  # "not installed": there is none
    require: Callable[[], object]  # raises MachineError with what to install
    jar_set: str | None = None  # that it runs from
