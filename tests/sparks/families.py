"""Who is who among the processes of a Spark, read from /proc.

driver or worker ──▶ JVM (executor) ──▶ pyspark.daemon ──forks──▶ pyspark.daemon: a Python worker
"""

import contextlib
from collections.abc import Iterable
from pathlib import Path

from onceproof.process import Child

_EXECUTOR = "CoarseGrainedExecutorBackend"
_DAEMON = "pyspark.daemon"
_DRIVER = "org.apache.spark.deploy.SparkSubmit"


def executors(children: Iterable[Child]) -> list[int]:
    return _running(children, _EXECUTOR)


def jvms(programs: Iterable[Child]) -> list[int]:
    """The JVM of each driver; with a local master its tasks run there."""
    return _running(programs, _DRIVER)


def python_workers(children: Iterable[Child]) -> list[int]:
    daemons = set(_running(children, _DAEMON))
    return sorted(pid for pid in daemons if _parent(pid) in daemons)


def jvm_of(python_worker: int) -> int:
    """The JVM whose daemon forked this Python worker: on a cluster, its executor."""
    return _parent(_parent(python_worker))


def _running(children: Iterable[Child], word: str) -> list[int]:
    pids = [process.pid for child in children for process in child.family()]
    return [pid for pid in pids if word in _command(pid)]


def _command(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace").replace("\0", " ")
    return ""


def _parent(pid: int) -> int:
    with contextlib.suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return 0
