"""The committed lock: which jars there are, what they must hold, and which sets they form.

`lock.json` is made by `tools/lock_jars.py` and never edited by hand:
```
 {"artifacts": {"group:artifact:version[:classifier]": {"size": …, "sha256": …}, …},
  "sets":      {"kafka-4.3.1": ["group:artifact:version", …], …}}
```
"""

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from onceproof.errors import unknown_name
from onceproof.versions import by_version

LOCK_FILE = Path(__file__).with_name("lock.json")
KAFKA_PREFIX = "kafka-"
STREAMS_PREFIX = "streams-"


@dataclass(frozen=True, kw_only=True)
class Artifact:
    """One jar, and the bytes it must have."""

    coordinates: str
    size: int
    sha256: str

    @property
    def path(self) -> str:
        """Its place below a Maven repository, and below our cache."""
        return repository_path(self.coordinates)


@dataclass(frozen=True, kw_only=True)
class Lock:
    sets: Mapping[str, tuple[Artifact, ...]]

    def artifacts(self, set_name: str) -> tuple[Artifact, ...]:
        if set_name not in self.sets:
            raise unknown_name("jar set", set_name, self.sets)
        return self.sets[set_name]


def known_sets() -> list[str]:
    return sorted(committed_lock().sets)


def kafka_versions() -> list[str]:
    """The broker versions that can be started, oldest first."""
    return _versions(KAFKA_PREFIX)


def streams_versions() -> list[str]:
    """The versions of Kafka Streams that can be put on trial, oldest first."""
    return _versions(STREAMS_PREFIX)


def _versions(prefix: str) -> list[str]:
    names = [name for name in committed_lock().sets if name.startswith(prefix)]
    return sorted((name.removeprefix(prefix) for name in names), key=by_version)


@functools.cache
def committed_lock() -> Lock:
    return read_lock(LOCK_FILE)


def read_lock(file: Path) -> Lock:
    content = json.loads(file.read_text(encoding="utf-8"))
    artifacts = {
        coordinates: Artifact(coordinates=coordinates, **facts)
        for coordinates, facts in content["artifacts"].items()
    }
    return Lock(
        sets={
            name: tuple(artifacts[coordinates] for coordinates in members)
            for name, members in content["sets"].items()
        }
    )


def repository_path(coordinates: str, extension: str = "jar") -> str:
    """`group:artifact:version[:classifier]` in the layout of a Maven repository."""
    group, artifact, version, *classifier = coordinates.split(":")
    file = "-".join([artifact, version, *classifier])
    return f"{group.replace('.', '/')}/{artifact}/{version}/{file}.{extension}"
