"""Fetch jars: many at a time, checked, and never half.

Invariant: a file gets its name only after its size and sha256 fit the lock. Until then it is
`*.part`, which goes away with any error; one left behind by a SIGKILL is resumed.
"""

import hashlib
import http.client
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path
from urllib.parse import urlsplit

from onceproof.deadline import pause
from onceproof.errors import JarError
from onceproof.jars.lock import Artifact
from onceproof.jars.repository import REPOSITORY_VARIABLE

Progress = Callable[[int, int], None]
"""Told the bytes done and the bytes in all; one call at a time, from any thread."""

THREADS = 16
ATTEMPTS_MAX = 3
PAUSE_S = 0.5
TIMEOUT_S = 20.0
CHUNK_BYTES = 256 * 1024
PART_SUFFIX = ".part"


def fetch(
    artifacts: Sequence[Artifact], directory: Path, address: str, progress: Progress | None
) -> None:
    """Fetch all of them into `directory`, or raise the first error; what is finished is kept."""
    tally = _Tally(sum(artifact.size for artifact in artifacts), progress)
    with ThreadPoolExecutor(THREADS, thread_name_prefix="jars") as threads:
        downloads = [
            threads.submit(_Download(artifact, directory, address, tally).run)
            for artifact in artifacts
        ]
        try:
            done, _ = wait(downloads, return_when=FIRST_EXCEPTION)
            for download in done:
                download.result()
        except BaseException:
            tally.abandoned.set()
            threads.shutdown(cancel_futures=True)
            raise


class _Tally:
    """What the threads share: the bytes done so far, and whether to go on at all."""

    def __init__(self, total_bytes: int, progress: Progress | None) -> None:
        self.abandoned = threading.Event()
        self._total_bytes = total_bytes
        self._done_bytes = 0
        self._progress = progress
        self._lock = threading.Lock()

    def add(self, count: int) -> None:
        with self._lock:
            self._done_bytes += count
            if self._progress is not None:
                self._progress(self._done_bytes, self._total_bytes)


class _Transient(Exception):
    """The transfer broke in a way that another attempt may cure."""


class _Download:
    """One artifact on its way: attempts, then the check, then its name."""

    def __init__(self, artifact: Artifact, directory: Path, address: str, tally: _Tally) -> None:
        self._artifact = artifact
        self._address = address
        self._tally = tally
        self._target = directory / artifact.path
        self._part = self._target.with_name(self._target.name + PART_SUFFIX)
        self._tallied_bytes = 0

    def run(self) -> None:
        try:
            self._target.parent.mkdir(parents=True, exist_ok=True)
            resumed = self._part_bytes() > 0
            self._transfer()
            if not self._part_fits() and resumed:
                # What a killed process left may be rubbish; the repository deserves a clean try.
                self._part.unlink()
                self._transfer()
            self._accept()
        except OSError as error:
            raise self._error(f"could not be stored in {self._target.parent}: {error}") from error
        finally:
            self._part.unlink(missing_ok=True)

    def _transfer(self) -> None:
        for attempt in range(1, ATTEMPTS_MAX + 1):
            try:
                self._transfer_once()
                return
            except _Transient as error:
                if attempt == ATTEMPTS_MAX or self._tally.abandoned.is_set():
                    raise self._error(
                        f"could not be fetched from {self._host()}: {error} ({attempt} attempts);"
                        f" check the network or proxy, or set {REPOSITORY_VARIABLE}; then run again"
                    ) from error
                pause(PAUSE_S * attempt)

    def _transfer_once(self) -> None:
        start = self._part_bytes()
        if start >= self._artifact.size:
            self._part.unlink()
            start = 0
        with self._open(start) as response:
            resumes = response.status == http.HTTPStatus.PARTIAL_CONTENT
            self._store(response, start if resumes else 0)

    def _open(self, start: int) -> http.client.HTTPResponse:
        request = urllib.request.Request(f"{self._address}/{self._artifact.path}")
        if start:
            request.add_header("Range", f"bytes={start}-")
        try:
            response: http.client.HTTPResponse = urllib.request.urlopen(request, timeout=TIMEOUT_S)
            return response
        except urllib.error.HTTPError as error:
            raise self._refusal(error) from error
        except urllib.error.URLError as error:
            raise _Transient(str(error.reason)) from error
        except (OSError, http.client.HTTPException) as error:
            raise _Transient(str(error) or type(error).__name__) from error

    def _refusal(self, error: urllib.error.HTTPError) -> Exception:
        answer = f"HTTP {error.code} {error.reason}"
        error.close()
        if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            self._part.unlink(missing_ok=True)
        elif error.code < 500 and error.code != http.HTTPStatus.TOO_MANY_REQUESTS:
            return self._error(
                f"is refused by {self._host()}: {answer};"
                f" set {REPOSITORY_VARIABLE} to a repository that has it"
            )
        return _Transient(answer)

    def _store(self, response: http.client.HTTPResponse, start: int) -> None:
        with self._part.open("r+b" if start else "wb") as part:
            part.seek(start)
            self._tell(start)
            while chunk := self._read(response):
                part.write(chunk)
                self._tell(part.tell())
                if part.tell() > self._artifact.size:
                    return  # a login page, an endless answer: the check refuses it
            if part.tell() < self._artifact.size:
                raise _Transient(f"cut off after {part.tell()} of {self._artifact.size} bytes")

    def _read(self, response: http.client.HTTPResponse) -> bytes:
        if self._tally.abandoned.is_set():
            raise _Transient("abandoned")
        try:
            return response.read(CHUNK_BYTES)
        except (OSError, http.client.HTTPException) as error:
            raise _Transient(str(error) or type(error).__name__) from error

    def _tell(self, part_bytes: int) -> None:
        """A second attempt that starts over takes back what the first had counted."""
        part_bytes = min(part_bytes, self._artifact.size)
        self._tally.add(part_bytes - self._tallied_bytes)
        self._tallied_bytes = part_bytes

    def _accept(self) -> None:
        if not self._part_fits():
            raise self._error(
                f"is not what the lock says: got {self._part_bytes()} bytes with sha256"
                f" {sha256(self._part)[:12]}…, expected {self._artifact.size} bytes with"
                f" {self._artifact.sha256[:12]}…;"
                f" check {REPOSITORY_VARIABLE} or the proxy, then run again"
            )
        self._part.replace(self._target)

    def _part_fits(self) -> bool:
        same_size = self._part_bytes() == self._artifact.size
        return same_size and sha256(self._part) == self._artifact.sha256

    def _part_bytes(self) -> int:
        return self._part.stat().st_size if self._part.exists() else 0

    def _host(self) -> str:
        """Never the whole address: it may carry a password."""
        return urlsplit(self._address).hostname or "the repository"

    def _error(self, what: str) -> JarError:
        return JarError(f"jar {self._artifact.coordinates} {what}")


def sha256(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
