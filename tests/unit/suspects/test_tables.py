"""What a suspect's table says, while it is written and after."""

import sqlite3
from pathlib import Path

from onceproof.suspects.tables import DATABASE, SCHEMA, table_position, table_rows


def test_before_the_first_batch_there_is_no_position(tmp_path: Path) -> None:
    assert table_position(tmp_path) is None
    (tmp_path / DATABASE).touch()
    assert table_position(tmp_path) is None


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
    assert table_position(tmp_path) == {1: 7}
    assert table_rows(tmp_path) == [(1, b"k", b"v"), (0, None, b"w")]
    database.close()
