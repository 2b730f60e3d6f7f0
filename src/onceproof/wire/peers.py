"""Which of our processes is at the other end of a connection, told by the kernel.

the client's port ──sock_diag──▶ its socket ──/proc/<pid>/fd──▶ a process ──▶ whose child

The proxy forwards nothing meanwhile: processes that had connections before are looked at first, and
only then are all relations of the machine's processes asked for again.
"""

import contextlib
import os
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from onceproof.wire.sock_diag import inode_between

PROC = Path("/proc")
_LOCAL, _REMOTE, _INODE = 1, 2, 9  # columns of /proc/net/tcp
_PARENT, _SESSION, _STARTED = 1, 3, 19  # of /proc/<pid>/stat, behind the name


@dataclass(frozen=True, slots=True)
class Peer:
    """An instance of the suspect or a broker; neither where it is not known."""

    instance: int | None = None
    start: int | None = None  # which of the instance's starts
    broker: int | None = None


NOBODY = Peer()


class Peers:
    """Knows the first process of each; those it started belong to it."""

    def __init__(self) -> None:
        self._roots: dict[int, Peer] = {}  # pid → whose
        # pid → its root and when it was started; the one found last is last
        self._members: dict[int, tuple[int, bytes]] = {}

    def know(self, peer: Peer, pid: int) -> None:
        """A new start of one replaces its last one, unless the starts are told apart."""
        self._roots = {
            each: known
            for each, known in self._roots.items()
            if known != peer and (PROC / str(each)).exists()
        }
        self._roots[pid] = peer
        self._members = {
            each: known for each, known in self._members.items() if known[0] in self._roots
        }

    def behind(self, port: int, listening: int, *, brokers: bool) -> Peer:
        """NOBODY: none that we know, or gone already.

        `listening`: the proxy's own port of that connection; two connections to different places
        may have the same port at their own end.
        `brokers`: it is one of them, as the listener says, or else an instance. Looking through
        all that a JVM has open takes its time.
        """
        roots = {
            pid: peer for pid, peer in self._roots.items() if (peer.broker is not None) == brokers
        }
        socket = _socket_at(port, listening) if roots else None
        if socket is None:
            return NOBODY
        root = self._known_holder(socket, roots) or self._any_holder(socket, roots)
        return NOBODY if root is None else roots[root]

    def _known_holder(self, socket: str, roots: Mapping[int, Peer]) -> int | None:
        for pid, (root, started) in reversed(self._members.items()):
            # A pid may be another process's by now.
            if root in roots and _holds(pid, socket) and _started(pid) == started:
                return root
        return None

    def _any_holder(self, socket: str, roots: Mapping[int, Peer]) -> int | None:
        relations = _relations()
        for root in roots:
            for pid in _family(root, relations):
                if _holds(pid, socket):
                    self._members.pop(pid, None)
                    self._members[pid] = root, _started(pid)
                    return root
        return None


def _socket_at(port: int, remote: int) -> str | None:
    """What /proc calls the socket that leads from the one port to the other."""
    with contextlib.suppress(OSError):
        inode = inode_between(port, remote)
        if inode is not None:
            return f"socket:[{inode}]"
    return _socket_in_tables(port, remote)


def _socket_in_tables(port: int, remote: int) -> str | None:
    """Slower; for addresses and kernels that cannot be asked for one socket."""
    for table in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            for line in (PROC / "net" / table).read_text().splitlines()[1:]:
                columns = line.split()
                ends = _port(columns[_LOCAL]), _port(columns[_REMOTE])
                if ends == (port, remote) and columns[_INODE] != "0":
                    return f"socket:[{columns[_INODE]}]"
    return None


def _port(address: str) -> int:
    return int(address.rpartition(":")[2], 16)


def _relations() -> dict[int, set[int]]:
    """Of each process: its children, and all of the session that it leads."""
    found: dict[int, set[int]] = defaultdict(set)
    for entry in PROC.iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                words = _stat(entry)
                for relative in (words[_PARENT], words[_SESSION]):
                    found[int(relative)].add(int(entry.name))
    return found


def _stat(process: Path) -> list[bytes]:
    """As bytes: a name that was cut in the middle of a character is no text."""
    return (process / "stat").read_bytes().rpartition(b")")[2].split()


def _started(pid: int) -> bytes:
    with contextlib.suppress(OSError):
        return _stat(PROC / str(pid))[_STARTED]
    return b""


def _family(pid: int, relations: dict[int, set[int]]) -> set[int]:
    found, waiting = set(), {pid}
    while waiting:
        each = waiting.pop()
        found.add(each)
        waiting |= relations.get(each, set()) - found
    return found


def _holds(pid: int, socket: str) -> bool:
    with contextlib.suppress(OSError):
        # Not pathlib: there are hundreds, and a connection waits for this.
        folder = f"{PROC}/{pid}/fd"
        for name in os.listdir(folder):
            with contextlib.suppress(OSError):
                if os.readlink(f"{folder}/{name}") == socket:  # noqa: PTH115
                    return True
    return False
