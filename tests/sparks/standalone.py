"""Spark standalone from PySpark's own package: a master and two workers of one core each.

```
 master 127.0.0.1 ◀── worker 127.0.0.1 ──▶ executor JVM ──▶ pyspark.daemon ──▶ Python workers
                  ◀── worker 127.0.0.2 ──▶ executor JVM ──▶ …
```

Invariant: nothing outlives it. Executors and Python workers inherit the environment of their worker
process, and with it the mark by which the whole family is killed.
"""

import contextlib
import importlib.util
import json
import os
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from families import executors

from onceproof.cluster.ports import HeldPorts
from onceproof.deadline import Deadline, wait_until
from onceproof.process import Child, spawn

MASTER_HOST = "127.0.0.1"
# Spark starts no second attempt of a task on the host of the first: each worker is another host.
WORKER_HOSTS = ("127.0.0.1", "127.0.0.2")
START_S_MAX = 60.0
ANSWER_S_MAX = 2.0
_DAEMON = "org.apache.spark.deploy"
_JVM_FLAGS = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"


@dataclass(frozen=True, kw_only=True)
class Standalone:
    """A running master and its workers; the value of `spark.master` is `url`."""

    url: str
    web_address: str
    workers: tuple[Child, ...]

    @staticmethod
    @contextlib.contextmanager
    def start(folder: Path) -> Iterator["Standalone"]:
        ports = HeldPorts()
        port, web_port = ports.take(2)
        children: list[Child] = []
        try:
            children.append(_master(folder, port, web_port))
            url = f"spark://{MASTER_HOST}:{port}"
            workers = tuple(_worker(folder, host, url) for host in WORKER_HOSTS)
            children.extend(workers)
            started = Standalone(
                url=url, web_address=f"http://{MASTER_HOST}:{web_port}/json/", workers=workers
            )
            started._wait_ready(children)
            yield started
        finally:
            for child in children:
                child.kill()
            ports.release()

    def is_idle(self) -> bool:
        """Whether no application has executors here any more."""
        return not executors(self.workers)

    def _wait_ready(self, children: list[Child]) -> None:
        wait_until(
            lambda: self._live_workers() == len(self.workers),
            Deadline(START_S_MAX),
            lambda: "no workers; " + "; ".join(child.log_tail(3) for child in children),
            pause_s=0.2,
        )

    def _live_workers(self) -> int:
        try:
            with urllib.request.urlopen(self.web_address, timeout=ANSWER_S_MAX) as answer:
                return int(json.load(answer)["aliveworkers"])
        except OSError:
            return 0


def _master(folder: Path, port: int, web_port: int) -> Child:
    options = ["--host", MASTER_HOST, "--port", str(port), "--webui-port", str(web_port)]
    return _daemon("master", [f"{_DAEMON}.master.Master", *options], folder, MASTER_HOST)


def _worker(folder: Path, host: str, url: str) -> Child:
    options = ["--host", host, "--webui-port", "0", "--cores", "1", "--memory", "1g"]
    work = folder / f"work-{host}"
    command = [f"{_DAEMON}.worker.Worker", *options, "--work-dir", str(work), url]
    return _daemon(f"worker-{host}", command, folder, host)


def _daemon(name: str, command: list[str], folder: Path, host: str) -> Child:
    package = importlib.util.find_spec("pyspark")
    assert package is not None
    assert package.origin is not None
    home = Path(package.origin).parent
    environment = {
        # Not ours: what the application needs must reach its executors as it would elsewhere.
        **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": host,
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": _JVM_FLAGS,
    }
    return spawn(
        name,
        [str(home / "bin" / "spark-class"), *command],
        log=folder / f"{name}.log",
        environment=environment,
    )
