"""The table of consumer_cassandra. Rows and position of an input partition are one partition of it.

partition │ next  │ at DESC         source  key  value
──────────┼───────┼─────────────────────────────────────
    0     │ 120   │ …0000000000121  121     …    …       beyond the position: a batch under way
          │       │ …0000000000120  120     …    …
          │       │ …0000000000119  119     …    …
"""

from typing import Any

from onceproof.errors import DatabaseError
from onceproof.suspects.tables.table import Identity, Row

KEYSPACE = (
    "CREATE KEYSPACE {} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}}"
)
TABLE = """
CREATE TABLE results (
    partition int, next bigint static, at text, source bigint, key blob, value blob,
    PRIMARY KEY (partition, at)
) WITH CLUSTERING ORDER BY (at DESC)
"""
CALL_S = 30.0


class CassandraTable:
    def __init__(self, address: str) -> None:
        self._address = address
        self._session: Any = None

    def make(self) -> None:
        server, _, keyspace = self._address.partition("/")
        made = connect(server)
        made.execute(KEYSPACE.format(keyspace))
        made.set_keyspace(keyspace)
        made.execute(TABLE)
        self._session = made

    def position(self) -> dict[int, int] | None:
        rows = self._ask("SELECT DISTINCT partition, next FROM results")
        return {row.partition: row.next for row in rows if row.next is not None} or None

    def rows(self) -> list[Row]:
        found = self._ask("SELECT partition, at, key, value FROM results")
        # A partition with a position and no row yet shows as a row without a place.
        written = sorted((row for row in found if row.at is not None), key=_place)
        return [(row.partition, row.key, row.value) for row in written]

    def unfinished(self, _instance: int) -> dict[Identity, str]:
        """Whose it is cannot be told: one that stands still shows by what does not change."""
        newest = self._ask("SELECT partition, next, source FROM results PER PARTITION LIMIT 1")
        return {
            (row.partition, row.next or 0): (
                f"input {row.partition}@{row.source} has a row in its table,"
                f" where its position is {row.next or 0}"
            )
            for row in newest
            if row.source is not None and row.source >= (row.next or 0)
        }

    def close(self) -> None:
        if self._session is not None:
            self._session.cluster.shutdown()

    def _ask(self, query: str) -> list[Any]:
        from cassandra import DriverException
        from cassandra.cluster import NoHostAvailable

        if self._session is None:
            self._session = connect(self._address)
        try:
            return list(self._session.execute(query))
        except (DriverException, NoHostAvailable) as error:
            said = str(error).partition("\n")[0]
            raise DatabaseError(f"the suspect's table cannot be read: {said}") from error


def _place(row: Any) -> tuple[int, str]:
    return row.partition, row.at


def connect(address: str) -> Any:
    """`host:port`, or `host:port/keyspace`: a session."""
    # Imported late: `onceproof list` knows the suspects, and no driver.
    from cassandra import ConsistencyLevel
    from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile, NoHostAvailable
    from cassandra.policies import RoundRobinPolicy

    server, _, keyspace = address.partition("/")
    host, _, port = server.partition(":")
    profile = ExecutionProfile(
        load_balancing_policy=RoundRobinPolicy(),
        consistency_level=ConsistencyLevel.QUORUM,
        serial_consistency_level=ConsistencyLevel.SERIAL,
        request_timeout=CALL_S,
    )
    cluster = Cluster(
        [host],
        port=int(port),
        execution_profiles={EXEC_PROFILE_DEFAULT: profile},
        protocol_version=5,
    )
    try:
        return cluster.connect(keyspace or None)
    except NoHostAvailable as error:
        cluster.shutdown()
        raise DatabaseError(f"Cassandra at {server} does not answer: {error}") from error
