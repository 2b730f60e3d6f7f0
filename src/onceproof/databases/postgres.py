"""PostgreSQL as a process of ours: fresh data, a port of its own, gone with us.

    initdb ──▶ data ──▶ postgres ──answers──▶ one database for each trial
                           └── its own children end by themselves once it is gone

What makes a commit a commit (fsync above all) is as PostgreSQL ships it. It refuses to run as root:
where we are, it runs as an unprivileged user, on data below the folder for temporary files: a run
directory may stand where that user cannot go.
"""

import os
import pwd
import shutil
import signal
import tempfile
from dataclasses import dataclass
from pathlib import Path

from onceproof.databases.postgres_binaries import find_postgres
from onceproof.databases.server import HOST, ServerOrder
from onceproof.deadline import Deadline, wait_until
from onceproof.errors import DatabaseError
from onceproof.process import Child, spawn, start_ticks

USER = "onceproof"  # inside the database; nobody but this machine can reach it
UNPRIVILEGED = ("postgres", "nobody")
START_S_MAX = 60.0
STOP_S_MAX = 10.0
ATTEMPT_S = 2
LEFT_OVER = "onceproof-postgres-"


@dataclass(frozen=True, kw_only=True)
class Home:
    """Where its data is, and who owns it; `user` None: we do."""

    path: Path
    user: str | None

    @property
    def data(self) -> Path:
        return self.path / "data"

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)


class PostgresServer:
    """Made by `start`."""

    def __init__(self, child: Child, home: Home, port: int) -> None:
        self.child = child
        self.home = home
        self._port = port
        self._spaces = 0

    @staticmethod
    def start(order: ServerOrder) -> "PostgresServer":
        """Returns when it answers."""
        binaries = find_postgres()
        deadline = Deadline(START_S_MAX)
        home = make_home(order.directory)
        log = order.logs.absolute() / "postgres.log"
        (port,) = order.take_ports(1)
        try:
            _make_data(binaries, home, log, deadline)
            child = spawn(
                "postgres", _command(binaries, home, port), log=log, cwd=home.path, user=home.user
            )
        except BaseException:
            home.remove()
            raise
        server = PostgresServer(child, home, port)
        try:
            wait_until(server._answers, deadline, lambda: f"PostgreSQL does not answer; see {log}")
        except BaseException:
            server.stop()
            raise
        return server

    def new_space(self) -> str:
        import psycopg

        self._spaces += 1
        name = f"trial_{self._spaces}"
        try:
            with psycopg.connect(self._address("postgres"), autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE {name}".encode())
        except psycopg.Error as error:
            raise DatabaseError(f"PostgreSQL made no database for the trial: {error}") from error
        return self._address(name)

    def is_running(self) -> bool:
        return self.child.is_running()

    def require_alive(self) -> None:
        if not self.is_running():
            raise DatabaseError(
                f"PostgreSQL ended, exit code {self.child.exit_code()};"
                f" {self.child.log_tail(2)}; see {self.child.log}"
            )

    def stop(self) -> None:
        """SIGINT is its fast shutdown: who is connected is cut off, what is open is undone."""
        self.child.stop(Deadline(STOP_S_MAX), signal.SIGINT)
        self.home.remove()

    def _address(self, database: str) -> str:
        return f"postgresql://{USER}@{HOST}:{self._port}/{database}"

    def _answers(self) -> bool:
        import psycopg

        self.require_alive()
        try:
            psycopg.connect(self._address("postgres"), connect_timeout=ATTEMPT_S).close()
        except psycopg.OperationalError:
            return False
        return True


def make_home(directory: Path) -> Home:
    if os.geteuid() != 0:
        directory.mkdir(parents=True, exist_ok=True)
        return Home(path=directory.absolute(), user=None)
    remove_left_overs()
    user = _unprivileged()
    path = Path(tempfile.mkdtemp(prefix=f"{LEFT_OVER}{os.getpid()}-"))
    shutil.chown(path, user, pwd.getpwnam(user).pw_gid)
    return Home(path=path, user=user)


def remove_left_overs() -> None:
    """Of runs that were killed: theirs is the process whose id stands in the name."""
    for path in Path(tempfile.gettempdir()).glob(f"{LEFT_OVER}*-*"):
        pid = path.name.removeprefix(LEFT_OVER).partition("-")[0]
        if pid.isdigit() and start_ticks(int(pid)) is None:
            shutil.rmtree(path, ignore_errors=True)


def _unprivileged() -> str:
    known = {entry.pw_name for entry in pwd.getpwall()}
    for name in UNPRIVILEGED:
        if name in known:
            return name
    raise DatabaseError(
        "PostgreSQL refuses to run as root, and there is no user"
        f" {' or '.join(UNPRIVILEGED)} to run it as; start onceproof as another user"
    )


def _make_data(binaries: Path, home: Home, log: Path, deadline: Deadline) -> None:
    """Without a sync of what it has made: that protects a fresh, empty database only."""
    command = [
        str(binaries / "initdb"),
        *("--pgdata", str(home.data)),
        *("--username", USER, "--auth", "trust"),
        *("--encoding", "UTF8", "--locale", "C", "--no-sync"),
    ]
    child = spawn("initdb", command, log=log, cwd=home.path, user=home.user)
    try:
        wait_until(lambda: not child.is_running(), deadline, f"initdb does not end; see {log}")
    finally:
        child.kill()
    if child.exit_code() != 0:
        raise DatabaseError(f"initdb made no data directory; {child.log_tail(2)}; see {log}")


def _command(binaries: Path, home: Home, port: int) -> list[str]:
    settings = {"listen_addresses": HOST, "port": str(port), "unix_socket_directories": ""}
    given = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    return [str(binaries / "postgres"), "-D", str(home.data), *given]
