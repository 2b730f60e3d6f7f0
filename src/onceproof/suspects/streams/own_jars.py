"""Kafka Streams of the user's own build: all jars of a folder, instead of a version of the lock."""

from collections.abc import Mapping
from pathlib import Path

from onceproof import jars
from onceproof.errors import UsageError
from onceproof.jars.lock import STREAMS_PREFIX
from onceproof.suspects.streams.properties import DEFAULT_VERSION, OWN_JARS, VERSION

LIBRARY = "kafka-streams-"
LOG_BINDINGS = ("slf4j-simple", "slf4j-reload4j", "log4j-slf4j", "logback-classic")


def streams_classpath(settings: Mapping[str, str]) -> list[Path]:
    """Of the own build, with a log binding where it has none; else of the lock."""
    if not settings.get(OWN_JARS):
        return jars.classpath(STREAMS_PREFIX + settings[VERSION])
    own = sorted(Path(settings[OWN_JARS]).glob("*.jar"))
    if any(jar.name.startswith(LOG_BINDINGS) for jar in own):
        return own
    locked = jars.classpath(STREAMS_PREFIX + DEFAULT_VERSION)
    return [*own, *(jar for jar in locked if jar.name.startswith(LOG_BINDINGS))]


def own_version(folder: Path) -> str:
    """As the library's file says: kafka-streams-4.4.0-SNAPSHOT.jar. UsageError: there is none."""
    if not folder.is_absolute():
        raise UsageError(f"--set {OWN_JARS} takes the whole path of a folder; got {folder}")
    found = sorted(
        jar.stem.removeprefix(LIBRARY)
        for jar in folder.glob(f"{LIBRARY}*.jar")
        if jar.stem.removeprefix(LIBRARY)[:1].isdigit()  # not kafka-streams-test-utils
    )
    if len(found) != 1:
        raise UsageError(
            f"--set {OWN_JARS}: {folder} must hold one {LIBRARY}<version>.jar, and all it needs;"
            f" got {len(found)}"
        )
    return found[0]
