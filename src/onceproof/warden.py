"""Ends whatever its owner leaves behind. Run as a script: standard library only, so that it starts
at once.

    onceproof ──pipe──▶ warden          the pipe closes when onceproof ends, however it ends
        └── children, grandchildren …   each carries the ward's name in its environment

A death signal follows the creating thread and misses grandchildren; a process group is left by
anyone who calls setsid. The environment is inherited by all of them, and /proc shows it, so that is
the mark. SIGKILL also ends stopped processes.
"""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

WARD_VARIABLE = "ONCEPROOF_WARD"
SWEEP_PAUSE_S = 0.1
SWEEP_S_MAX = 9.0
EMPTY_SWEEPS_TO_BE_SURE = 3  # a child that was between fork and exec shows only in a later sweep


@dataclass(frozen=True)
class Seen:
    """One process as /proc shows it."""

    pid: int
    state: str
    session: int
    environment: bytes


def processes() -> list[Seen]:
    """All processes that can be read, zombies left out: they hold nothing and cannot be killed."""
    seen = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
            with open(f"/proc/{name}/environ", "rb") as file:
                environment = file.read()
        except OSError:
            continue  # it ended meanwhile, or belongs to somebody else
        state = fields[0].decode()
        if state not in "ZX":
            seen.append(Seen(int(name), state, int(fields[3]), environment))
    return seen


def carries(process: Seen, variable: str, mark: str) -> bool:
    """Whether `mark` is one of the colon-separated marks in that variable."""
    prefix = variable.encode() + b"="
    for entry in process.environment.split(b"\0"):
        if entry.startswith(prefix):
            return mark.encode() in entry[len(prefix) :].split(b":")
    return False


def kill_all(belongs: Callable[[Seen], bool], seconds: float = SWEEP_S_MAX) -> list[int]:
    """SIGKILL whatever belongs, until several sweeps find nothing; the pids still there."""
    ends = time.monotonic() + seconds
    empty_sweeps = 0
    while True:
        left = [process.pid for process in processes() if belongs(process)]
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        empty_sweeps = 0 if left else empty_sweeps + 1
        if empty_sweeps >= EMPTY_SWEEPS_TO_BE_SURE or time.monotonic() > ends:
            return left
        time.sleep(SWEEP_PAUSE_S)  # standalone script: deadline.py is out of its reach


def main() -> None:
    ward = sys.argv[1]
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while os.read(0, 4096):
        pass  # nothing is ever sent: the end of the pipe is the message
    own = os.getpid()
    kill_all(lambda process: process.pid != own and carries(process, WARD_VARIABLE, ward))


if __name__ == "__main__":
    main()
