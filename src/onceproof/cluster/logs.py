"""What a broker's log says about why it ended. Pure but for reading the file."""

import re
from itertools import pairwise
from pathlib import Path

from onceproof.process import tail

LINES_READ_MAX = 400
LINES_SHOWN_MAX = 6
# slf4j-simple writes "<date> <time> [thread] ERROR logger - text"; the JVM writes its own lines.
_TROUBLE = re.compile(
    r"\b(ERROR|FATAL)\b|^Exception in thread|^Caused by:|OutOfMemoryError|^Error: |^Error occurred"
    r"|No space left on device|Address already in use|There is insufficient memory|^#\s+SIG"
)
# A line that stands for itself (a dated one) or says only where (a stack frame).
_OWN_LINE = re.compile(r"^(\d{4}-\d\d-\d\d |\s+at )")
_PORT_TAKEN = re.compile(r"Address already in use|Failed to bind|Socket server failed to bind")
_SIGNALS = {
    -9: "killed by SIGKILL: by us, or by the system for lack of memory",
    -6: "the JVM crashed",
    -15: "SIGTERM",
}


def cause(log: Path, exit_code: int | None) -> str:
    """One line: how it ended, then the lines of its log that tell why."""
    ending = "still runs" if exit_code is None else f"exit code {exit_code}"
    if exit_code in _SIGNALS:
        ending += f" ({_SIGNALS[exit_code]})"
    lines = trouble(log) or tail(log, 2).splitlines()
    said = " | ".join(lines) if lines else "its log is empty"
    return f"{ending}; {said}; see {log}"


def trouble(log: Path) -> list[str]:
    """The last lines that speak of an error, each once, with the exception that follows it."""
    lines = [line.rstrip() for line in tail(log, LINES_READ_MAX).splitlines()]
    troubled = []
    for line, following in pairwise([*lines, ""]):
        if _TROUBLE.search(line):
            troubled.append(line.strip())
            if following and not _OWN_LINE.match(following):
                troubled.append(following.strip())
    return list(dict.fromkeys(troubled))[-LINES_SHOWN_MAX:]


def port_was_taken(log: Path) -> bool:
    return bool(_PORT_TAKEN.search(tail(log, LINES_READ_MAX)))
