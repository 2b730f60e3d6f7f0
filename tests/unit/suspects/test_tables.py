"""What a suspect's table says, while it is written and after."""

import sqlite3
from pathlib import Path

from onceproof.suspects.tables.postgres import PostgresTable
from onceproof.suspects.tables.sqlite import DATABASE, SCHEMA, SqliteTable
from onceproof.suspects.tables.table import Gate, Seen


def test_before_the_first_batch_there_is_no_position(tmp_path: Path) -> None:
    table = SqliteTable(tmp_path)
    assert table.position() is None
    (tmp_path / DATABASE).touch()
    assert table.position() is None


def test_rows_and_position_are_those_of_committed_transactions_only(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / DATABASE, isolation_level=None)
    database.execute("PRAGMA journal_mode=WAL")
    database.executescript(SCHEMA)
    insert = "INSERT INTO results VALUES (?, ?, ?)"
    database.execute(insert, (1, b"k", b"v"))
    database.execute(insert, (0, None, b"w"))
    database.execute("INSERT INTO positions VALUES (1, 7)")
    database.execute("BEGIN IMMEDIATE")
    database.execute(insert, (1, b"k", b"open"))
    database.execute("UPDATE positions SET next = 8")
    table = SqliteTable(tmp_path)
    assert table.position() == {1: 7}
    assert table.rows() == [(1, b"k", b"v"), (0, None, b"w")]
    database.close()


def test_a_server_can_be_looked_into_and_a_file_cannot(tmp_path: Path) -> None:
    server, file = PostgresTable("postgresql://nobody@nowhere/none"), SqliteTable(tmp_path)
    assert (isinstance(server, Seen), isinstance(server, Gate)) == (True, True)
    assert (isinstance(file, Seen), isinstance(file, Gate)) == (False, False)
