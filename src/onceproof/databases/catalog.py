"""All database servers by name. A suspect names the one it keeps its position in."""

from onceproof.databases.cassandra import CassandraServer
from onceproof.databases.cassandra_jvm import JAR_SET
from onceproof.databases.postgres import PostgresServer
from onceproof.databases.postgres_binaries import find_postgres, postgres_version
from onceproof.databases.server import Database
from onceproof.machine import find_java

DATABASES: dict[str, Database] = {
    database.name: database
    for database in (
        Database(
            name="postgres",
            start=PostgresServer.start,
            version=postgres_version,
            require=find_postgres,
        ),
        Database(
            name="cassandra",
            start=CassandraServer.start,
            version=lambda: JAR_SET.partition("-")[2],
            require=find_java,
            jar_set=JAR_SET,
        ),
    )
}
