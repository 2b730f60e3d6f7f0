"""All database servers by name. A suspect names the one it keeps its position in."""

from onceproof.databases.postgres import PostgresServer
from onceproof.databases.postgres_binaries import find_postgres, postgres_version
from onceproof.databases.server import Database


def _require_postgres() -> None:
    find_postgres()


DATABASES: dict[str, Database] = {
    database.name: database
    for database in (
        Database(
            name="postgres",
            start=PostgresServer.start,
            version=postgres_version,
            require=_require_postgres,
        ),
    )
}
