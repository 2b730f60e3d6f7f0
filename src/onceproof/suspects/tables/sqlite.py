"""The tables of consumer_sqlite: a file below its state directory."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from onceproof.suspects.tables.table import Row

DATABASE = "results.db"
SCHEMA = """
CREATE TABLE IF NOT EXISTS results (partition INTEGER, key BLOB, value BLOB);
CREATE TABLE IF NOT EXISTS positions (partition INTEGER PRIMARY KEY, next INTEGER);
"""


class SqliteTable:
    """Neither can anybody see into a transaction of its, nor hold one."""

    def __init__(self, state_dir: Path) -> None:
        self._file = state_dir / DATABASE

    def make(self) -> None:
        """The suspect does: the file is its own."""

    def position(self) -> dict[int, int] | None:
        if not self._file.exists():
            return None
        try:
            with self._reading() as database:
                return dict(database.execute("SELECT partition, next FROM positions")) or None
        except sqlite3.OperationalError:  # its tables are being made
            return None

    def rows(self) -> list[Row]:
        with self._reading() as database:
            query = "SELECT partition, key, value FROM results ORDER BY rowid"
            return list(database.execute(query))

    def close(self) -> None:
        """Nothing is kept open."""

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self._file)) as database:
            database.execute("PRAGMA query_only=ON")
            yield database
