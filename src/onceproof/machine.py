"""What the machine must have before anything starts: Linux, a whole JDK, memory, disk.

```
 JAVA_HOME, else PATH ──▶ java --list-modules ──▶ version, home, modules ──▶ java.json in the cache
```

Invariant: what is missing is told in one line that ends with the next step. The answer of a Java is
kept, keyed by its file and the file's time of change: asking costs a JVM start.
"""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from onceproof.cache import cache_directory
from onceproof.errors import MachineError
from onceproof.files import write_json

JAVA_VERSION_MIN = 17
# Spark 4.2's launcher passes --add-modules=jdk.incubator.vector; small runtimes leave it out.
MODULE_NEEDED = "jdk.incubator.vector"
JAVA_ANSWER_S_MAX = 30.0
MEMORY_BYTES_MIN = 4 * 1024**3
DISK_BYTES_MIN = 2 * 1024**3
GIB = 1024**3

OS_RELEASE = Path("/etc/os-release")
MEMORY_INFO = Path("/proc/meminfo")
CGROUP = Path("/sys/fs/cgroup")


@dataclass(frozen=True, kw_only=True)
class Java:
    home: Path
    executable: Path
    version: str

    @property
    def feature_version(self) -> int:
        """17 for 17.0.15; 8 for 1.8.0_362."""
        return _feature_version(self.version)


def check_machine(runs_dir: Path) -> None:
    """Raise MachineError for the first thing that is missing."""
    if sys.platform != "linux":
        raise MachineError(f"onceproof runs on Linux; this is {sys.platform}")
    find_java()
    _check_memory()
    _check_disk(runs_dir)


def find_java() -> Java:
    """The Java of JAVA_HOME if that is set, else the one on PATH; whole and new enough."""
    executable = _java_executable()
    java = _remembered(executable)
    if java is None:
        java = _asked(executable)
        _remember(java)
    return java


def _java_executable() -> Path:
    home = os.environ.get("JAVA_HOME")
    if home:
        executable = Path(home) / "bin" / "java"
        if not os.access(executable, os.X_OK):
            raise MachineError(
                f"JAVA_HOME is {home}, which has no bin/java; unset it, or {_install_advice()}"
            )
        return executable
    found = shutil.which("java")
    if found is None:
        raise MachineError(f"no Java found (JAVA_HOME, PATH); {_install_advice()}")
    return Path(found)


def _asked(executable: Path) -> Java:
    """Ask the Java itself, and refuse one that is broken, too old or not whole."""
    answer = _output(executable, "-XshowSettings:properties", "--list-modules")
    version = _setting(answer, "java.version")
    home = _setting(answer, "java.home")
    if version is None or home is None:
        raise _not_usable(executable)
    if _feature_version(version) < JAVA_VERSION_MIN:
        raise _too_old(executable, version)
    if MODULE_NEEDED not in answer:
        raise MachineError(
            f"{executable} is Java {version} without the module {MODULE_NEEDED}, which Spark needs;"
            f" {_install_advice()}"
        )
    return Java(home=Path(home), executable=executable, version=version)


def _not_usable(executable: Path) -> MachineError:
    """Java 8 knows no modules, but it knows its version; anything else is not a Java we know."""
    answer = _output(executable, "-version")
    found = re.search(r'version "([^"]+)"', answer)
    if found:
        return _too_old(executable, found.group(1))
    said = (answer.strip().splitlines() or ["nothing"])[0]
    return MachineError(f"{executable} is no working Java, it said: {said}; {_install_advice()}")


def _too_old(executable: Path, version: str) -> MachineError:
    return MachineError(
        f"{executable} is Java {version}; {JAVA_VERSION_MIN} or newer is needed;"
        f" {_install_advice()}"
    )


def _output(executable: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            [executable, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=JAVA_ANSWER_S_MAX,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MachineError(f"{executable} does not run: {error}; {_install_advice()}") from error
    return done.stdout.decode("utf-8", errors="replace")


def _setting(answer: str, name: str) -> str | None:
    found = re.search(rf"^\s*{re.escape(name)} = (.+)$", answer, re.MULTILINE)
    return found.group(1).strip() if found else None


def _feature_version(version: str) -> int:
    numbers = [int(number) for number in re.findall(r"\d+", version)]
    return numbers[1] if numbers[0] == 1 else numbers[0]


def _remembered(executable: Path) -> Java | None:
    """What the same file answered before; None if it changed or nothing was kept."""
    try:
        kept = json.loads(_memory_file().read_text(encoding="utf-8"))
        if kept["key"] != _key(executable):
            return None
        java = Java(
            home=Path(kept["home"]), executable=Path(kept["executable"]), version=kept["version"]
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return java if (java.home / "bin" / "java").exists() else None


def _remember(java: Java) -> None:
    """Keeping it is a convenience: a cache that cannot be written costs time, not the run."""
    kept = {
        "key": _key(java.executable),
        **{name: str(value) for name, value in asdict(java).items()},
    }
    file = _memory_file()
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        write_json(file, kept)


def _memory_file() -> Path:
    return cache_directory("machine") / "java.json"


def _key(executable: Path) -> list[str | int]:
    target = executable.resolve()
    return [str(executable), str(target), target.stat().st_mtime_ns]


def _install_advice() -> str:
    """The package by the name this distribution gives it."""
    release = _os_release()
    # Debian 13 no longer carries 17.
    newer = release.get("ID") == "debian" and int(release.get("VERSION_ID", "12")) >= 13
    return package_advice(
        debian=f"openjdk-{21 if newer else 17}-jdk-headless",
        fedora="java-21-openjdk-devel",
        otherwise=f"a JDK {JAVA_VERSION_MIN} or newer",
    )


def package_advice(*, debian: str, fedora: str, otherwise: str) -> str:
    """How to install what is missing, by the names that families of distributions have for it."""
    release = _os_release()
    families = {release.get("ID", ""), *release.get("ID_LIKE", "").split()}
    if families & {"debian", "ubuntu"}:
        return f"install one: sudo apt install {debian}"
    if families & {"fedora", "rhel", "centos"}:
        return f"install one: sudo dnf install {fedora}"
    return f"install {otherwise} (Debian's name: {debian})"


def _os_release() -> dict[str, str]:
    if not OS_RELEASE.exists():
        return {}
    pairs = (line.split("=", 1) for line in OS_RELEASE.read_text().splitlines() if "=" in line)
    return {name: value.strip("\"'") for name, value in pairs}


def _check_memory() -> None:
    available = _memory_available_bytes()
    if available < MEMORY_BYTES_MIN:
        raise MachineError(
            f"{available / GIB:.1f} GiB of memory are available;"
            f" three brokers and Spark need {MEMORY_BYTES_MIN / GIB:.0f} GiB; end something else"
        )


def _memory_available_bytes() -> int:
    """The machine's, or what a container's own limit leaves of it."""
    kilobytes = re.search(r"^MemAvailable:\s+(\d+) kB", MEMORY_INFO.read_text(), re.MULTILINE)
    machine = int(kilobytes.group(1)) * 1024 if kilobytes else MEMORY_BYTES_MIN
    limit = CGROUP / "memory.max"
    if not limit.exists() or limit.read_text().strip() == "max":
        return machine
    used = int((CGROUP / "memory.current").read_text())
    # File pages count as used, but the kernel drops them when somebody asks for memory.
    droppable = re.search(r"^inactive_file (\d+)", (CGROUP / "memory.stat").read_text(), re.M)
    free = int(limit.read_text()) - used + (int(droppable.group(1)) if droppable else 0)
    return min(machine, free)


def _check_disk(runs_dir: Path) -> None:
    existing = next(path for path in [runs_dir, *runs_dir.absolute().parents] if path.exists())
    free = shutil.disk_usage(existing).free
    if free < DISK_BYTES_MIN:
        raise MachineError(
            f"{free / GIB:.1f} GiB of disk are free in {existing}; a run needs"
            f" {DISK_BYTES_MIN / GIB:.0f} GiB; free some or choose another --runs-dir"
        )
