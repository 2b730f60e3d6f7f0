"""The tables of suspects that write into a database: what they hold, read without disturbing."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

DATABASE = "results.db"
SCHEMA = """
CREATE TABLE IF NOT EXISTS results (partition INTEGER, key BLOB, value BLOB);
CREATE TABLE IF NOT EXISTS positions (partition INTEGER PRIMARY KEY, next INTEGER);
"""
Row = tuple[int, bytes | None, bytes | None]


def table_position(state_dir: Path) -> dict[int, int] | None:
    """Next input offset by partition; None before the first."""
    if not (state_dir / DATABASE).exists():
        return None
    try:
        with _reading(state_dir) as database:
            return dict(database.execute("SELECT partition, next FROM positions")) or None
    except sqlite3.OperationalError:  # its tables are being made
        return None


def table_rows(state_dir: Path) -> list[Row]:
    """All results: partition of the input, key, value; in the order they were written."""
    with _reading(state_dir) as database:
        query = "SELECT partition, key, value FROM results ORDER BY rowid"
        return list(database.execute(query))


@contextmanager
def _reading(state_dir: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(state_dir / DATABASE)) as database:
        database.execute("PRAGMA query_only=ON")
        yield database
