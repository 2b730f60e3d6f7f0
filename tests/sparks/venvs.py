"""The Sparks the sink is tried on: the lab's own, and older ones, each in a venv of its own.

```
 requirements/spark-3.5.txt ──pip──▶ cache/sparks/3.5-<hash>/ ──stamp last──▶ Spark(…, python)
```

Invariant: a venv without its stamp is made anew, so an interrupted one is never used. The first
time takes about a minute a version: PySpark comes as source, 400 MB of it.
"""

import fcntl
import hashlib
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from onceproof import jars
from onceproof.cache import cache_directory

REQUIREMENTS = Path(__file__).parents[2] / "requirements"
STAMP = "ready"
INSTALL_S_MAX = 500.0
# As in requirements/spark-*.txt, whose connectors are in the lock of jars.
PYSPARK_VERSIONS = {"3.5": "3.5.7", "4.0": "4.0.0"}


@dataclass(frozen=True, kw_only=True)
class Spark:
    """A Python with PySpark and the sink's dependencies, and the Kafka connector that fits it."""

    version: str
    python: Path

    def connector(self) -> str:
        """The value of spark.jars."""
        return ",".join(str(jar) for jar in jars.classpath(f"spark-kafka-{self.version}"))


def own_spark() -> Spark:
    """The one these tests run with."""
    return Spark(version=version("pyspark"), python=Path(sys.executable))


def other_spark(name: str) -> Spark:
    """`name`: "3.5" or "4.0". Makes its venv the first time."""
    lock = REQUIREMENTS / f"spark-{name}.txt"
    content = sys.version.encode() + lock.read_bytes()
    sparks = cache_directory("sparks")
    venv = sparks / f"{name}-{hashlib.sha256(content).hexdigest()[:12]}"
    sparks.mkdir(parents=True, exist_ok=True)
    with (sparks / ".lock").open("ab") as only_one:
        fcntl.flock(only_one, fcntl.LOCK_EX)
        if not (venv / STAMP).exists():
            _make(venv, lock)
    return Spark(version=PYSPARK_VERSIONS[name], python=venv / "bin" / "python")


def _make(venv: Path, lock: Path) -> None:
    """As tools/launch.py does: nothing that is not locked, not even to build PySpark with."""
    shutil.rmtree(venv, ignore_errors=True)
    _run([sys.executable, "-m", "venv", str(venv)])
    pip = [str(venv / "bin" / "python"), "-m", "pip", "install", "--quiet", "--require-hashes"]
    _run([*pip, "-r", str(REQUIREMENTS / "installer.txt")])
    _run([*pip, "--no-deps", "--no-build-isolation", "-r", str(lock)])
    (venv / STAMP).touch()


def _run(command: list[str]) -> None:
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=INSTALL_S_MAX, check=False
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
