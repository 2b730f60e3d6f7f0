"""A PostgreSQL server of ours: it answers, tells what is open, holds, and leaves nothing behind."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from onceproof.cluster.ports import HeldPorts
from onceproof.databases.postgres import PostgresServer
from onceproof.databases.server import ServerOrder
from onceproof.deadline import Deadline, wait_until
from onceproof.errors import DatabaseError
from onceproof.suspects.tables.postgres import PostgresTable, client_name

LEFT_S_MAX = 10.0


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresServer]:
    folder = tmp_path_factory.mktemp("postgres")
    order = ServerOrder(directory=folder / "data", logs=folder, take_ports=HeldPorts().take)
    started = PostgresServer.start(order)
    yield started
    started.stop()
    assert not started.home.data.exists()


def connect(address: str, instance: int = 0) -> psycopg.Connection:
    return psycopg.connect(address, application_name=client_name(instance))


def test_a_commit_is_on_disk_as_on_any_server(server: PostgresServer) -> None:
    with connect(server.new_space()) as connection:
        for name, value in {
            "fsync": "on",
            "synchronous_commit": "on",
            "full_page_writes": "on",
        }.items():
            assert connection.execute(f"SHOW {name}".encode()).fetchone() == (value,)


def test_each_trial_has_a_place_of_its_own(server: PostgresServer) -> None:
    first, second = PostgresTable(server.new_space()), PostgresTable(server.new_space())
    for table in (first, second):
        table.make()
    first._ask(lambda connection: connection.execute("INSERT INTO positions VALUES (0, 7)"))
    assert (first.position(), second.position()) == ({0: 7}, None)
    first.close()
    second.close()


def test_an_open_transaction_is_seen_and_its_rows_are_not(server: PostgresServer) -> None:
    address = server.new_space()
    table = PostgresTable(address)
    table.make()
    with connect(address, 3) as connection:
        connection.execute("INSERT INTO positions VALUES (0, 0)")
        connection.commit()
        assert table.unfinished(3) == {}
        connection.execute("INSERT INTO results (partition, key, value) VALUES (0, 'k', 'v')")
        assert table.unfinished(4) == {}
        (told,) = table.unfinished(3).values()
        assert told.endswith("of its database has written and is open")
        assert (table.rows(), table.position()) == ([], {0: 0})
        connection.commit()
        assert (table.rows(), table.unfinished(3)) == ([(0, b"k", b"v")], {})
    table.close()


MOVER = """
import psycopg, sys
connection = psycopg.connect(sys.argv[1], application_name="instance-0")
connection.execute("INSERT INTO results (partition, key, value) VALUES (0, 'k', 'v')")
connection.execute("UPDATE positions SET next = 1")
connection.commit()
"""


@pytest.mark.parametrize("is_killed", [True, False])
def test_who_is_held_before_its_position_leaves_all_or_nothing(
    server: PostgresServer, *, is_killed: bool
) -> None:
    address = server.new_space()
    table = PostgresTable(address)
    table.make()
    table._ask(lambda connection: connection.execute("INSERT INTO positions VALUES (0, 0)"))
    table.shut()
    mover = subprocess.Popen([sys.executable, "-c", MOVER, address])
    wait_until(lambda: table.waiting(0), Deadline(10), "it never came to the gate")
    if is_killed:
        mover.kill()
    table.open()
    mover.wait(timeout=10)
    wait_until(lambda: not table.unfinished(0), Deadline(10), "its transaction stays open")
    expected = ([], {0: 0}) if is_killed else ([(0, b"k", b"v")], {0: 1})
    assert (table.rows(), table.position()) == expected
    table.close()


def processes_in(folder: Path) -> list[str]:
    """A server and all its children stand in its data directory."""

    def stands_there(pid: str) -> bool:
        try:
            return Path(f"/proc/{pid}/cwd").readlink() == folder
        except OSError:
            return False

    return [pid for pid in os.listdir("/proc") if pid.isdigit() and stands_there(pid)]


def test_a_killed_server_takes_its_children_along_and_is_told(tmp_path: Path) -> None:
    order = ServerOrder(directory=tmp_path / "data", logs=tmp_path, take_ports=HeldPorts().take)
    server = PostgresServer.start(order)
    try:
        assert len(processes_in(server.home.data)) >= 5
        os.kill(server.child.pid, signal.SIGKILL)
        wait_until(
            lambda: not processes_in(server.home.data), Deadline(LEFT_S_MAX), "children are left"
        )
        with pytest.raises(DatabaseError, match="PostgreSQL ended, exit code -9"):
            server.require_alive()
    finally:
        server.stop()
