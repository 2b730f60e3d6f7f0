"""Loads an agent into a JVM that runs already, by HotSpot's own protocol: no second JVM is needed.

    /tmp/.attach_pid<pid> + SIGQUIT ──▶ the JVM opens /tmp/.java_pid<pid> ◀── "load", agent, options

SIGQUIT ends a process that is no JVM: only one that has mapped libjvm.so is ever sent one.
"""

import contextlib
import os
import signal
import socket
from collections.abc import Iterable
from pathlib import Path

from onceproof.deadline import Deadline, wait_until
from onceproof.errors import DeadlineExpired, FaultError

ATTACH_S_MAX = 15.0
DIRECTORY = Path("/tmp")  # HotSpot's own choice, whatever TMPDIR says
PROTOCOL = "1"
LOADED = "0"  # the first line of the answer; the agent's own return code follows
_LIBRARY = b"libjvm.so"


def find_jvm(pids: Iterable[int]) -> int | None:
    """The first of these processes that is a JVM, or has one inside."""
    for pid in pids:
        with contextlib.suppress(OSError):
            if _LIBRARY in Path(f"/proc/{pid}/maps").read_bytes():
                return pid
    return None


def load_agent(pid: int, agent: Path, options: str) -> None:
    """Returns when the agent has started. FaultError with what the JVM said otherwise."""
    deadline = Deadline(ATTACH_S_MAX)
    try:
        _open_door(pid, deadline)
        said = _ask(pid, ["load", "instrument", "false", f"{agent}={options}"], deadline)
    except (OSError, DeadlineExpired) as error:
        raise FaultError(f"the JVM {pid} takes no agent: {error}") from error
    lines = said.split("\n")
    if lines[0] != LOADED or "return code: 0" not in lines:
        raise FaultError(f"the JVM {pid} could not load {agent.name}: {' '.join(lines).strip()}")


def _open_door(pid: int, deadline: Deadline) -> None:
    if _door(pid).exists():
        return
    trigger = DIRECTORY / f".attach_pid{pid}"
    trigger.touch(mode=0o600)
    try:
        os.kill(pid, signal.SIGQUIT)
        wait_until(_door(pid).exists, deadline, f"it did not open {_door(pid)}", pause_s=0.01)
    finally:
        trigger.unlink(missing_ok=True)


def _ask(pid: int, words: list[str], deadline: Deadline) -> str:
    with socket.socket(socket.AF_UNIX) as door:
        door.settimeout(deadline.remaining_s())
        door.connect(str(_door(pid)))
        door.sendall(b"".join(word.encode() + b"\0" for word in (PROTOCOL, *words)))
        answer = b""
        while piece := door.recv(4096):
            answer += piece
    return answer.decode("utf-8", errors="replace")


def _door(pid: int) -> Path:
    return DIRECTORY / f".java_pid{pid}"
