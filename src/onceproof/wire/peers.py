"""Which instance of the suspect is at the other end of a connection, told by the kernel.

the client's port ──/proc/net/tcp──▶ its socket ──/proc/<pid>/fd──▶ a process ──▶ whose child
"""

import contextlib
import os
from collections import defaultdict
from pathlib import Path

PROC = Path("/proc")
_LOCAL, _INODE = 1, 9  # columns of /proc/net/tcp
_PARENT, _SESSION = 1, 3  # of /proc/<pid>/stat, behind the name


class Peers:
    """Knows the first process of each instance; those it started belong to it."""

    def __init__(self) -> None:
        self._roots: dict[int, int] = {}  # pid → instance

    def know(self, instance: int, pid: int) -> None:
        """A new start of an instance replaces its last one."""
        self._roots = {each: n for each, n in self._roots.items() if n != instance}
        self._roots[pid] = instance

    def instance_of(self, port: int) -> int | None:
        """None: not one of the suspect's, or gone already."""
        if not self._roots:
            return None
        socket = _socket_at(port)
        if socket is None:
            return None
        relations = _relations()
        for pid, instance in self._roots.items():
            if any(_holds(each, socket) for each in _family(pid, relations)):
                return instance
        return None


def _socket_at(port: int) -> str | None:
    """What /proc calls the socket whose own port this is."""
    for table in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            for line in (PROC / "net" / table).read_text().splitlines()[1:]:
                columns = line.split()
                if int(columns[_LOCAL].rpartition(":")[2], 16) == port and columns[_INODE] != "0":
                    return f"socket:[{columns[_INODE]}]"
    return None


def _relations() -> dict[int, set[int]]:
    """Of each process: its children, and all of the session that it leads."""
    found: dict[int, set[int]] = defaultdict(set)
    for entry in PROC.iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                words = (entry / "stat").read_text().rpartition(")")[2].split()
                for relative in (words[_PARENT], words[_SESSION]):
                    found[int(relative)].add(int(entry.name))
    return found


def _family(pid: int, relations: dict[int, set[int]]) -> set[int]:
    found, waiting = set(), {pid}
    while waiting:
        each = waiting.pop()
        found.add(each)
        waiting |= relations.get(each, set()) - found
    return found


def _holds(pid: int, socket: str) -> bool:
    with contextlib.suppress(OSError):
        for entry in os.scandir(PROC / str(pid) / "fd"):
            with contextlib.suppress(OSError):
                if str(Path(entry.path).readlink()) == socket:
                    return True
    return False
