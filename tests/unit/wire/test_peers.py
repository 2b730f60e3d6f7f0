"""Who is at the other end of a connection, by the kernel. Real processes, real sockets."""

import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from onceproof.wire import peers
from onceproof.wire.peers import NOBODY, Peer, Peers

CONNECTS = "import socket,sys; c=socket.create_connection(('127.0.0.1',int(sys.argv[1])))"
WAITS = "sys.stdin.read()"
# Its child connects, not itself.
PARENT = (
    "import subprocess,sys;"
    f'p=subprocess.Popen([sys.executable,"-c","{CONNECTS};{WAITS}",sys.argv[1]]);p.wait()'
)


class Listener:
    def __init__(self) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.accepted: list[socket.socket] = []

    def next_port(self) -> int:
        """The other end's port of the next connection."""
        connection, address = self.socket.accept()
        self.accepted.append(connection)
        return int(address[1])

    def close(self) -> None:
        for each in (*self.accepted, self.socket):
            each.close()


@pytest.fixture
def listener() -> Iterator[Listener]:
    listener = Listener()
    yield listener
    listener.close()


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[bytes]]]:
    processes: list[subprocess.Popen[bytes]] = []
    yield processes
    for each in processes:
        if each.stdin is not None:
            each.stdin.close()  # ends a grandchild, too
        each.wait(10)


def start(
    program: str, port: int, started: list[subprocess.Popen[bytes]]
) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-c", program, str(port)]
    started.append(subprocess.Popen(argv, stdin=subprocess.PIPE))
    return started[-1]


@pytest.mark.parametrize("program", [f"{CONNECTS};{WAITS}", PARENT])
@pytest.mark.parametrize("asked", ["the kernel", "the tables"])
def test_an_instance_is_known_by_its_own_connections_and_its_childrens(
    program: str,
    asked: str,
    listener: Listener,
    started: list[subprocess.Popen[bytes]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if asked == "the tables":

        def unable(_port: int, _remote: int) -> int:
            raise OSError("no such protocol")

        monkeypatch.setattr(peers, "inode_between", unable)
    known, instance = Peers(), Peer(instance=3, start=1)
    known.know(instance, start(program, listener.port, started).pid)
    port = listener.next_port()
    for _ in range(2):  # looked for, and then remembered
        assert known.behind(port, listener.port, brokers=False) == instance
    assert known.behind(port, listener.port, brokers=True) == NOBODY
    stranger = socket.create_connection(("127.0.0.1", listener.port))
    assert known.behind(listener.next_port(), listener.port, brokers=False) == NOBODY
    stranger.close()


def test_two_starts_are_told_apart_and_one_that_is_gone_is_nobody(
    listener: Listener, started: list[subprocess.Popen[bytes]]
) -> None:
    known = Peers()
    program = f"{CONNECTS};{WAITS}"
    old = start(program, listener.port, started)
    known.know(Peer(instance=0, start=1), old.pid)
    old_port = listener.next_port()
    assert known.behind(old_port, listener.port, brokers=False).start == 1
    known.know(Peer(instance=0, start=2), start(program, listener.port, started).pid)
    assert known.behind(listener.next_port(), listener.port, brokers=False).start == 2
    assert known.behind(old_port, listener.port, brokers=False).start == 1
    old.kill()
    old.wait(10)
    assert known.behind(old_port, listener.port, brokers=False) == NOBODY
