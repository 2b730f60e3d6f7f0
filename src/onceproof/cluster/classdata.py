"""Class-data sharing: a broker that ends cleanly leaves its loaded classes, the next one maps them.

    first start ──-XX:ArchiveClassesAtExit──▶ fresh file ──clean stop──▶ checked, renamed ──▶ cache
    later starts ──-XX:SharedArchiveFile──▶ (about half the start's CPU time saved)

An archive belongs to one JVM and one list of jars: both are in its name. One that is damaged is
thrown away before a JVM sees it: it would ignore junk in silence, but crash on half a file.
"""

import contextlib
import hashlib
import uuid
import zlib
from dataclasses import dataclass
from pathlib import Path

from onceproof.cache import cache_directory

_CHECKSUM_BLOCK = 1 << 22


@dataclass(frozen=True, kw_only=True)
class ClassArchive:
    """The archive of one (JVM, jars) pair; it may not exist yet."""

    path: Path

    @staticmethod
    def of(kafka_version: str, java_identity: str, jars: list[Path]) -> "ClassArchive":
        digest = hashlib.sha256(java_identity.encode())
        for jar in jars:
            # What the JVM itself checks: a touched jar invalidates the archive.
            stat = jar.stat()
            digest.update(f"{jar}:{stat.st_size}:{stat.st_mtime_ns}\n".encode())
        name = f"kafka-{kafka_version}-{digest.hexdigest()[:16]}.jsa"
        return ClassArchive(path=cache_directory("class-data") / name)

    @property
    def _checksum(self) -> Path:
        return self.path.with_suffix(".crc32")

    def is_sound(self) -> bool:
        """Whether it is there, byte for byte as it was recorded; a damaged one is removed."""
        try:
            if self._checksum.read_text() == _crc32(self.path):
                return True
        except OSError:
            pass
        self.discard()
        return False

    def discard(self) -> None:
        for path in (self._checksum, self.path):
            with contextlib.suppress(FileNotFoundError):
                path.unlink()

    def recording(self, broker_id: int) -> "Recording":
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.path.with_name(f".{uuid.uuid4().hex[:8]}-{self.path.name}")
        return Recording(broker_id=broker_id, path=fresh, archive=self)

    def adopt(self, recorded: Path) -> None:
        checksum = recorded.with_suffix(".crc32")
        checksum.write_text(_crc32(recorded))
        recorded.replace(self.path)
        checksum.replace(self._checksum)


@dataclass(frozen=True, kw_only=True)
class Recording:
    """What one broker will leave when it ends cleanly."""

    broker_id: int
    path: Path
    archive: ClassArchive

    def finish(self) -> bool:
        """Keep what was recorded; False where the broker left nothing (it was killed)."""
        if not self.path.is_file() or self.path.stat().st_size == 0:
            self.path.unlink(missing_ok=True)
            return False
        self.archive.adopt(self.path)
        return True


def _crc32(path: Path) -> str:
    checksum = 0
    with path.open("rb") as file:
        while block := file.read(_CHECKSUM_BLOCK):
            checksum = zlib.crc32(block, checksum)
    return f"{checksum:08x}"
