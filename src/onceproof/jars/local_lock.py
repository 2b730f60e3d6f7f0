"""Versions that the committed lock does not have: resolved once, and locked in the user's cache.

committed lock.json ──has it──▶ its artifacts
      │ not
cache/locks/streams-3.6.1.json ──is there──▶ its artifacts
      │ not
resolve.py ──▶ written there
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from onceproof.cache import cache_directory
from onceproof.errors import UsageError, unknown_name
from onceproof.files import write_whole
from onceproof.jars.lock import (
    KAFKA_PREFIX,
    LOCK_FILE,
    STREAMS_PREFIX,
    Artifact,
    committed_lock,
    read_lock,
)

DIRECTORY_NAME = "locks"
_SET = re.compile(rf"({KAFKA_PREFIX}|{STREAMS_PREFIX})(\d+\.\d+\.\d+)")


@dataclass(frozen=True, kw_only=True)
class Family:
    what: str
    root: str


FAMILIES = {
    KAFKA_PREFIX: Family(what="Kafka", root="org.apache.kafka:kafka_2.13"),
    STREAMS_PREFIX: Family(what="Kafka Streams", root="org.apache.kafka:kafka-streams"),
}
# Neither brings a log binding: without one there are no logs.
LOG_BINDING = {"org.slf4j:slf4j-simple": "org.slf4j:slf4j-api"}


def artifacts_of(set_name: str) -> tuple[Artifact, ...]:
    """Of any set that is locked, here or there; one that is not is locked now."""
    if is_committed(set_name):
        return committed_lock().artifacts(set_name)
    file = cache_directory(DIRECTORY_NAME) / f"{set_name}.json"
    if not _is_lock(file, set_name):
        _write(file, _make(set_name))
    return read_lock(file).artifacts(set_name)


def _is_lock(file: Path, set_name: str) -> bool:
    """A damaged one is made anew: it is a cache."""
    try:
        return set_name in read_lock(file).sets
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def is_committed(set_name: str) -> bool:
    return set_name in committed_lock().sets


def is_lockable(set_name: str) -> bool:
    """Whether it may be a version that there is; only its repository knows."""
    return _SET.fullmatch(set_name) is not None


def _make(set_name: str) -> str:
    from onceproof.jars.resolve import facts_of, is_available, resolve

    found = _SET.fullmatch(set_name)
    if found is None:
        raise unknown_name("jar set", set_name, committed_lock().sets)
    family, version = FAMILIES[found[1]], found[2]
    root = f"{family.root}:{version}"
    if not is_available(root):
        known = (name for name in committed_lock().sets if name.startswith(found[1]))
        locked = ", ".join(sorted(name.removeprefix(found[1]) for name in known))
        raise UsageError(
            f"there is no {family.what} {version}: the repository has no {root}; locked: {locked}"
        )
    members = resolve([root], LOG_BINDING)
    known_facts = json.loads(LOCK_FILE.read_text(encoding="utf-8"))["artifacts"]
    lock = {"artifacts": facts_of(members, known_facts), "sets": {set_name: members}}
    return json.dumps(lock, indent=1, sort_keys=True) + "\n"


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, text)
