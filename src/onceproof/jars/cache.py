"""The local cache, laid out like a Maven repository; a file that differs from the lock is healed.

Every use hashes every file: 45 MB take 40 ms, and the JVM is about to read them anyway.
One process fetches at a time; the others wait for it and find its work done.
"""

import contextlib
import fcntl
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from onceproof.cache import CACHE_VARIABLE, cache_directory
from onceproof.deadline import Deadline, wait_until
from onceproof.errors import DeadlineExpired, JarError
from onceproof.jars.fetch import Progress, fetch, sha256
from onceproof.jars.local_lock import artifacts_of
from onceproof.jars.lock import Artifact
from onceproof.jars.repository import repository_address

DIRECTORY_NAME = "jars"
LOCK_NAME = ".lock"
LOCK_S_MAX = 900.0


def classpath(set_name: str, progress: Progress | None = None) -> list[Path]:
    """The jars of a set, in the lock's order, each verified; fetches what is missing."""
    artifacts = artifacts_of(set_name)
    directory = cache_directory(DIRECTORY_NAME)
    ensure(artifacts, directory, progress)
    return [directory / artifact.path for artifact in artifacts]


def ensure(artifacts: Sequence[Artifact], directory: Path, progress: Progress | None) -> None:
    """Make every artifact present and right below `directory`."""
    if not _wrong(artifacts, directory):
        return
    with _only_one(directory):
        # Looked at again: another process may have fetched them while we waited.
        wrong = _wrong(artifacts, directory)
        if wrong:
            fetch(wrong, directory, repository_address(), progress)


def _wrong(artifacts: Sequence[Artifact], directory: Path) -> list[Artifact]:
    return [artifact for artifact in artifacts if not _fits(artifact, directory / artifact.path)]


def _fits(artifact: Artifact, file: Path) -> bool:
    if not file.is_file() or file.stat().st_size != artifact.size:
        return False
    return sha256(file) == artifact.sha256


@contextlib.contextmanager
def _only_one(directory: Path) -> Iterator[None]:
    """Hold the cache's lock. The kernel drops it with its holder, so a killed one blocks nobody."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        lock = (directory / LOCK_NAME).open("ab")
    except OSError as error:
        raise JarError(
            f"jar cache {directory} cannot be written: {error};"
            f" set {CACHE_VARIABLE} to another folder"
        ) from error
    with lock:
        _take(lock, directory)
        yield


def _take(lock: IO[bytes], directory: Path) -> None:
    try:
        wait_until(lambda: _try_lock(lock), Deadline(LOCK_S_MAX), "another onceproof fetches jars")
    except DeadlineExpired as error:
        raise JarError(f"{error}; end it, or delete {directory / LOCK_NAME}") from error


def _try_lock(lock: IO[bytes]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
