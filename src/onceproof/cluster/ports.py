"""Free ports that stay ours: a lock file for each, held as long as this process lives.

They are taken below the range from which the system gives ports to outgoing connections, so that no
client can sit on a broker's port between choice and start, nor while the broker is down.
"""

import contextlib
import fcntl
import os
import socket
import tempfile
from pathlib import Path

from onceproof.errors import ClusterError

HOST = "127.0.0.1"
FIRST_PORT = 15000
LAST_PORT = 32767
_EPHEMERAL_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")


class HeldPorts:
    """Ports that no other run will choose until `release`."""

    # Ports go round: a client left over from an earlier cluster must not find the next one there.
    _last_taken = 0

    def __init__(self) -> None:
        self._locks: dict[int, int] = {}

    def take(self, count: int) -> list[int]:
        ports: list[int] = []
        for port in _candidates(after=HeldPorts._last_taken):
            if len(ports) == count:
                return ports
            if self._lock(port):
                ports.append(port)
                HeldPorts._last_taken = port
        self.release()
        raise ClusterError(f"no {count} free ports on {HOST}; looked at {FIRST_PORT} and above")

    def release(self) -> None:
        for descriptor in self._locks.values():
            os.close(descriptor)
        self._locks.clear()

    def _lock(self, port: int) -> bool:
        if port in self._locks:
            return False
        try:
            descriptor = os.open(_lock_directory() / str(port), os.O_CREAT | os.O_RDWR, 0o666)
        except PermissionError:
            return False  # another user's run made it
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return False
        if not _is_free(port):
            os.close(descriptor)
            return False
        self._locks[port] = descriptor
        return True


def _candidates(after: int) -> list[int]:
    """All ports of the range, begun after the last one, or at a place that few others begin at."""
    last = min(LAST_PORT, _first_ephemeral_port() - 1)
    ports = list(range(FIRST_PORT, max(last, FIRST_PORT + 1000)))
    start = after + 1 - FIRST_PORT if after else (os.getpid() * 61) % len(ports)
    return ports[start:] + ports[:start]


def _first_ephemeral_port() -> int:
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(_EPHEMERAL_RANGE.read_text().split()[0])
    return LAST_PORT + 1


def _lock_directory() -> Path:
    directory = Path(tempfile.gettempdir()) / "onceproof-ports"
    with contextlib.suppress(FileExistsError):
        directory.mkdir()
        directory.chmod(0o777)
    return directory


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As a server does it: a port in TIME_WAIT is free, one that is listened on is not.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
            probe.listen(1)
        except OSError:
            return False
    return True
