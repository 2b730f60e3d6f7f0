"""The tables of consumer_postgres: read, looked into while a transaction is open, and shut.

instance 0: BEGIN ─▶ rows ─▶ position ─▶ COMMIT
                          ▲ gate: while `positions` is locked, it stands here
                   ▲ unfinished: the server tells whose transaction is open and has written
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from onceproof.errors import DatabaseError
from onceproof.suspects.tables.table import Identity, Row

if TYPE_CHECKING:
    import psycopg

SCHEMA = """
CREATE TABLE results (id BIGSERIAL PRIMARY KEY, partition INT, key BYTEA, value BYTEA);
CREATE TABLE positions (partition INT PRIMARY KEY, next BIGINT NOT NULL);
"""
# Of one client, by the name it gives itself; only a transaction that has written has an id.
ACTIVITY = (
    "SELECT pid, backend_xid::text::bigint, wait_event_type = 'Lock' FROM pg_stat_activity"
    " WHERE datname = current_database() AND application_name = %s AND backend_xid IS NOT NULL"
)
Value = TypeVar("Value")


def client_name(instance: int) -> str:
    """What an instance calls itself when it connects: so the server tells them apart."""
    return f"instance-{instance}"


class PostgresTable:
    def __init__(self, address: str) -> None:
        self._address = address
        self._reader: psycopg.Connection[Any] | None = None
        self._gate: psycopg.Connection[Any] | None = None

    def make(self) -> None:
        self._ask(lambda connection: connection.execute(SCHEMA))

    def position(self) -> dict[int, int] | None:
        return dict(self._rows("SELECT partition, next FROM positions")) or None

    def rows(self) -> list[Row]:
        return self._rows("SELECT partition, key, value FROM results ORDER BY id")

    def unfinished(self, instance: int) -> dict[Identity, str]:
        return {
            (pid, transaction): f"transaction {transaction} of its database has written and is open"
            for pid, transaction, _ in self._rows(ACTIVITY, (client_name(instance),))
        }

    def shut(self) -> None:
        """SHARE keeps writers out and lets readers in. One that is writing is waited for."""
        self.open()
        gate = self._gate = self._connect()
        self._guarded(lambda: gate.execute("BEGIN; LOCK TABLE positions IN SHARE MODE"))

    def waiting(self, instance: int) -> str | None:
        for _, transaction, waits in self._rows(ACTIVITY, (client_name(instance),)):
            if waits:
                return f"transaction {transaction} of its database has its rows, not its position"
        return None

    def open(self) -> None:
        if self._gate is not None:
            gate, self._gate = self._gate, None
            gate.close()

    def close(self) -> None:
        self.open()
        if self._reader is not None:
            self._reader.close()

    def _rows(self, query: str, given: tuple[Any, ...] = ()) -> list[Any]:
        return self._ask(lambda connection: connection.execute(query.encode(), given).fetchall())

    def _ask(self, question: "Callable[[psycopg.Connection[Any]], Value]") -> Value:
        if self._reader is None:
            self._reader = self._connect()
        reader = self._reader
        return self._guarded(lambda: question(reader))

    def _connect(self) -> "psycopg.Connection[Any]":
        # Imported late: `onceproof list` knows the suspects, and no driver.
        import psycopg

        return self._guarded(lambda: psycopg.connect(self._address, autocommit=True))

    def _guarded(self, step: Callable[[], Value]) -> Value:
        import psycopg

        try:
            return step()
        except psycopg.Error as error:
            said = str(error).partition("\n")[0]
            raise DatabaseError(f"the suspect's table cannot be read: {said}") from error
