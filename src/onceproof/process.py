"""A child process with its log, never orphaned.

Every child starts in a session of its own and carries two marks in its environment: the ward's, by
which the warden ends it when we are gone, and its own, by which its whole family (a Spark driver's
JVM, its Python workers) is killed, paused and resumed as one.
"""

import atexit
import contextlib
import os
import pwd
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from onceproof import warden
from onceproof.deadline import Deadline, wait_until
from onceproof.errors import ProcessError

CHILD_VARIABLE = "ONCEPROOF_CHILD"
KILL_S_MAX = 10.0


def own_environment() -> dict[str, str]:
    """For a child that has ours. A copy: the table itself may move under the child while another
    thread sets a variable, and the child cannot be started then ("Bad address").
    """
    return dict(os.environ)


class Ward:
    """This process's warden. Started with the first child; ends after us, and after all of ours."""

    def __init__(self) -> None:
        self.mark = uuid.uuid4().hex
        # -S -E: no site-packages, no PYTHON* variables: it must start fast and depend on nothing.
        self._process = subprocess.Popen(
            [sys.executable, "-S", "-E", str(Path(warden.__file__)), self.mark],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=own_environment(),
            start_new_session=True,
        )
        # Also what others start in this process (PySpark's gateway JVM) must carry the mark.
        marks = [*_marks(os.environ), self.mark]
        os.environ[warden.WARD_VARIABLE] = ":".join(marks)

    def close(self) -> None:
        """Let the warden end what is left, and wait for it."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=KILL_S_MAX)


def _marks(environment: Mapping[str, str]) -> list[str]:
    return [mark for mark in environment.get(warden.WARD_VARIABLE, "").split(":") if mark]


_ward: Ward | None = None


def ensure_ward() -> Ward:
    """Start the warden if there is none. Call it before anything else starts a process."""
    global _ward  # noqa: PLW0603 - one warden a process is the whole point
    if _ward is None:
        _ward = Ward()
        atexit.register(_ward.close)
    return _ward


def end_everything() -> None:
    """Kill all that carries our mark, at once: for an interrupt, after which nothing is awaited."""
    global _ward
    if _ward is not None:
        ward, _ward = _ward, None
        ward.close()


class Child:
    """A running child and its family. Signals go to all of them."""

    def __init__(self, name: str, process: subprocess.Popen[bytes], log: Path, mark: str) -> None:
        self.name = name
        self.log = log
        self._process = process
        self._mark = mark

    @property
    def pid(self) -> int:
        return self._process.pid

    def exit_code(self) -> int | None:
        """None while it runs; negative: the signal that ended it."""
        return self._process.poll()

    def is_running(self) -> bool:
        return self.exit_code() is None

    def family(self) -> list[warden.Seen]:
        """The child and all its descendants that still run, whatever groups they made for
        themselves.
        """
        return [process for process in warden.processes() if self._belongs(process)]

    def _belongs(self, process: warden.Seen) -> bool:
        return process.session == self.pid or warden.carries(process, CHILD_VARIABLE, self._mark)

    def kill(self) -> None:
        """SIGKILL to the whole family at once; returns when none of it is left."""
        self._signal_family(signal.SIGKILL)
        left = warden.kill_all(self._belongs, KILL_S_MAX)
        if left:
            raise ProcessError(f"{self.name} survived SIGKILL for {KILL_S_MAX:.0f} s; pids {left}")
        self._process.wait(timeout=KILL_S_MAX)

    def stop(self, deadline: Deadline, number: signal.Signals = signal.SIGTERM) -> bool:
        """SIGTERM to the child, which ends its family itself; False if it had to be killed.

        `number`: for one that knows another signal for a quick and clean end.
        """
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)
        self.resume()  # a stopped process sees the signal only when it goes on
        try:
            self._process.wait(timeout=deadline.remaining_s())
            clean = True
        except subprocess.TimeoutExpired:
            clean = False
        self.kill()
        return clean

    def pause(self, first: Iterable[int] = ()) -> None:
        """SIGSTOP to the whole family; returns when all of it stands still.

        `first`: members as known a moment ago. Looking the family up takes milliseconds, and who
        aims at a moment may not have them.
        """
        for pid in first:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
        wait_until(
            self._stop_those_that_move,
            Deadline(KILL_S_MAX),
            f"{self.name} did not stand still after SIGSTOP",
            pause_s=0.01,
        )

    def _stop_those_that_move(self) -> bool:
        moving = [process for process in self.family() if process.state not in "Tt"]
        for process in moving:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGSTOP)
        return not moving

    def resume(self) -> None:
        self._signal_family(signal.SIGCONT)

    def is_paused(self) -> bool:
        family = self.family()
        return bool(family) and all(process.state in "Tt" for process in family)

    def _signal_family(self, number: signal.Signals) -> None:
        for process in self.family():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, number)

    def log_tail(self, lines: int = 20) -> str:
        return tail(self.log, lines)


def spawn(
    name: str,
    argv: Sequence[str],
    *,
    log: Path,
    environment: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    outlives_us: bool = False,
    user: str | None = None,
) -> Child:
    """Start a child; what it prints is appended to `log`. `outlives_us`: clusters to be kept.
    `user`: as whom, where we are root and the child must not be.
    """
    ward = ensure_ward()
    mark = uuid.uuid4().hex
    complete = dict(os.environ if environment is None else environment)
    complete[CHILD_VARIABLE] = mark
    if outlives_us:
        complete.pop(warden.WARD_VARIABLE, None)
    else:
        complete[warden.WARD_VARIABLE] = ":".join(dict.fromkeys([*_marks(complete), ward.mark]))
    log.parent.mkdir(parents=True, exist_ok=True)
    try:
        with log.open("ab") as output:
            process = subprocess.Popen(
                list(argv),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=complete,
                cwd=cwd,
                start_new_session=True,
                **_rights(user),
            )
    except OSError as error:
        raise ProcessError(f"{name} could not be started: {error}; argv: {argv[0]}") from error
    return Child(name, process, log, mark)


def _rights(user: str | None) -> dict[str, Any]:
    """That user's own and no others: not the groups that we are in."""
    if user is None:
        return {}
    return {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []}


def tail(log: Path, lines: int) -> str:
    """The last lines of a log, bounded also in bytes: a log may have no line ends at all."""
    if not log.exists():
        return ""
    with log.open("rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(0, file.tell() - 400 * lines))
        text = file.read().decode("utf-8", errors="replace")
    return "\n".join(text.splitlines()[-lines:])


def start_ticks(pid: int) -> int | None:
    """When the process began; None where there is none, or only its remains."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
    return None if fields[0] in (b"Z", b"X") else int(fields[19])
