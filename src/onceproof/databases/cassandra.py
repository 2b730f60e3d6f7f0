"""Cassandra as a process of ours: one node from the locked jars, ports of its own, gone with us.

    cassandra.yaml, logback.xml ──▶ JVM: CassandraDaemon ──answers CQL──▶ a keyspace for each trial

One node, so that there is nobody to gossip with: what it would wait for at a start is left out.
What makes a write durable (commit log, memtables) is as Cassandra ships it.
"""

import shutil
from pathlib import Path

from onceproof import jars
from onceproof.databases.cassandra_files import write_files
from onceproof.databases.cassandra_jvm import JAR_SET, command
from onceproof.databases.server import HOST, ServerOrder
from onceproof.deadline import Deadline, wait_until
from onceproof.errors import DatabaseError
from onceproof.machine import find_java
from onceproof.process import Child, spawn

START_S_MAX = 120.0
PAUSE_S = 0.25
READY = b"Startup complete"


class CassandraServer:
    """Made by `start`."""

    def __init__(self, child: Child, directory: Path, port: int) -> None:
        self.child = child
        self._directory = directory
        self._port = port
        self._spaces = 0

    @staticmethod
    def start(order: ServerOrder) -> "CassandraServer":
        """Returns when it takes clients."""
        directory = order.directory.absolute()
        native, storage = order.take_ports(2)
        files = write_files(directory, native_port=native, storage_port=storage)
        log = order.logs.absolute() / "cassandra.log"
        said_before = log.stat().st_size if log.exists() else 0
        child = spawn(
            "cassandra",
            command(str(find_java().executable), jars.classpath(JAR_SET), files),
            log=log,
            cwd=directory,
        )
        server = CassandraServer(child, directory, native)
        try:
            wait_until(
                lambda: server._says_ready(said_before),
                Deadline(START_S_MAX),
                lambda: f"Cassandra does not come up; {child.log_tail(1)}; see {log}",
                pause_s=PAUSE_S,
            )
        except BaseException:
            server.stop()
            raise
        return server

    def new_space(self) -> str:
        """The name of a keyspace that nobody has: who makes the table makes it, too."""
        self._spaces += 1
        return f"{HOST}:{self._port}/trial_{self._spaces}"

    def is_running(self) -> bool:
        return self.child.is_running()

    def require_alive(self) -> None:
        if not self.is_running():
            raise DatabaseError(
                f"Cassandra ended, exit code {self.child.exit_code()};"
                f" {self.child.log_tail(2)}; see {self.child.log}"
            )

    def stop(self) -> None:
        """Its data is not needed again."""
        self.child.kill()
        shutil.rmtree(self._directory, ignore_errors=True)

    def _says_ready(self, said_before: int) -> bool:
        """`said_before`: bytes of a log that another has begun."""
        self.require_alive()
        with self.child.log.open("rb") as log:
            log.seek(said_before)
            return READY in log.read()
