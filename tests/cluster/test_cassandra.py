"""A Cassandra server of ours: it takes clients, its table tells what is unfinished, it is gone."""

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from onceproof.cluster.ports import HeldPorts
from onceproof.databases.cassandra import CassandraServer
from onceproof.databases.server import ServerOrder
from onceproof.deadline import Deadline, wait_until
from onceproof.errors import DatabaseError
from onceproof.suspects.consumers.cassandra import WRITES, Results
from onceproof.suspects.tables.cassandra import CassandraTable, connect


class Record:
    """What a consumer hands over, as far as a table needs it."""

    def __init__(self, offset: int) -> None:
        self._offset = offset

    def offset(self) -> int:
        return self._offset

    def key(self) -> bytes:
        return b"k"

    def value(self) -> bytes:
        return f"v{self._offset}".encode()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CassandraServer]:
    folder = tmp_path_factory.mktemp("cassandra")
    order = ServerOrder(directory=folder / "data", logs=folder, take_ports=HeldPorts().take)
    started = CassandraServer.start(order)
    yield started
    started.stop()
    assert not (folder / "data").exists()


@pytest.fixture(autouse=True)
def contract(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONCEPROOF_INSTANCE", "0")
    monkeypatch.setenv("ONCEPROOF_SETTINGS", "{}")


@pytest.fixture
def table(server: CassandraServer) -> Iterator[tuple[CassandraTable, Any]]:
    """The judge's view, and a session as a suspect has it."""
    address = server.new_space()
    made = CassandraTable(address)
    made.make()
    session = connect(address)
    yield made, session
    session.cluster.shutdown()
    made.close()


def batch(*offsets: int) -> list[Any]:
    return [Record(offset) for offset in offsets]


@pytest.mark.parametrize("write", WRITES)
def test_what_is_written_again_is_there_once_unless_nothing_guards_it(
    table: tuple[CassandraTable, Any], write: str
) -> None:
    seen, session = table
    first, second = Results(session, write), Results(session, write)
    assert (seen.position(), seen.rows()) == (None, [])
    assert (first.next_of(0), second.next_of(0)) == (0, 0)
    assert first.write(0, batch(0, 1))
    is_written = second.write(0, batch(0, 1))  # it did not know
    assert is_written is (write != "lwt")
    assert seen.position() == {0: 2}
    values = [value for _, _, value in seen.rows()]
    assert values == ([b"v0", b"v1"] * 2 if write == "append" else [b"v0", b"v1"])


def test_the_position_never_goes_back_whoever_writes_it_last(
    table: tuple[CassandraTable, Any],
) -> None:
    seen, session = table
    zombie, successor = Results(session, "keys"), Results(session, "keys")
    assert successor.write(1, batch(*range(20)))
    assert zombie.write(1, batch(*range(10)))
    assert seen.position() == {1: 20}
    assert zombie.next_of(1) == 20
    assert [partition for partition, _, _ in seen.rows()] == [1] * 20


def test_a_batch_under_way_is_seen_until_its_position_is_there(
    table: tuple[CassandraTable, Any],
) -> None:
    seen, session = table
    results = Results(session, "keys")
    results.write(0, batch(0, 1))
    assert seen.unfinished(0) == {}
    session.execute(results._row, (0, f"{2:020}", 2, b"k", b"v2"))
    told = "input 0@2 has a row in its table, where its position is 2"
    assert seen.unfinished(0) == {(0, 2): told}


def test_a_server_that_ended_is_told(server: CassandraServer) -> None:
    """The last test: it takes the server away."""
    address = server.new_space()
    os.kill(server.child.pid, signal.SIGKILL)
    wait_until(lambda: not server.child.is_running(), Deadline(10), "it survives SIGKILL")
    with pytest.raises(DatabaseError, match="Cassandra ended, exit code -9"):
        server.require_alive()
    with pytest.raises(DatabaseError, match=r"Cassandra at 127\.0\.0\.1:\d+ does not answer"):
        connect(address)
