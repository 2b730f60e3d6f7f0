"""Jars of the user's own build: a folder with one library and all it needs, not a locked set.

Which build it was is told by name and sha256: a version like 4.4.0-SNAPSHOT says little.
"""

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from onceproof.errors import JarError, UsageError
from onceproof.jars.cache import classpath
from onceproof.jars.fetch import sha256

STREAMS_LIBRARY = "kafka-streams-"
BROKER_LIBRARY = "kafka_2.13-"
LOG_BINDINGS = ("slf4j-simple", "slf4j-reload4j", "log4j-slf4j", "logback-classic")
NO_CODE = ("-sources", "-javadoc", "-test", "-tests", "-scaladoc")
DIGITS_TOLD = 12


@dataclass(frozen=True, kw_only=True)
class OwnJars:
    folder: Path
    library: Path
    version: str  # as the library's file says: kafka-streams-4.4.0-SNAPSHOT.jar
    jars: tuple[Path, ...]

    def told(self) -> str:
        return f"{self.version} (own jars: {self.library.name}, sha256 {self.digest()}…)"

    def digest(self) -> str:
        """Of the library, so much of it as tells it from another build."""
        return sha256(self.library)[:DIGITS_TOLD]

    def hashes(self) -> dict[str, str]:
        return {jar.name: sha256(jar) for jar in self.jars}

    def with_log_binding(self, locked_set: str) -> list[Path]:
        """That of a locked set where the build brings none: without one there are no logs."""
        if any(jar.name.startswith(LOG_BINDINGS) for jar in self.jars):
            return list(self.jars)
        locked = classpath(locked_set)
        return [*self.jars, *(jar for jar in locked if jar.name.startswith(LOG_BINDINGS))]


def own_jars(folder: Path, library: str, option: str) -> OwnJars:
    """JarError: a build that failed left this. UsageError: two builds, of which one is meant."""
    if not folder.is_dir():
        raise JarError(f"{option}: {folder} is no folder; it must hold {library}<version>.jar")
    jars = sorted(jar for jar in folder.glob("*.jar") if not jar.stem.endswith(NO_CODE))
    found = [jar for jar in jars if _is_library(jar, library)]
    if len(found) != 1:
        problem = UsageError if found else JarError
        raise problem(
            f"{option}: {folder} must hold one {library}<version>.jar, and all it needs;"
            f" got {len(found)}"
        )
    _require_whole(jars, option)
    version = found[0].stem.removeprefix(library)
    return OwnJars(folder=folder, library=found[0], version=version, jars=tuple(jars))


def _is_library(jar: Path, library: str) -> bool:
    """Not kafka-streams-test-utils-…"""
    return jar.name.startswith(library) and jar.name.removeprefix(library)[:1].isdigit()


def _require_whole(jars: Sequence[Path], option: str) -> None:
    for jar in jars:
        if not zipfile.is_zipfile(jar):
            raise JarError(
                f"{option}: {jar} is not a whole jar ({jar.stat().st_size} bytes); fetch or build"
                " it again"
            )
