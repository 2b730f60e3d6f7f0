"""Which jars an instance of Kafka Streams runs with: a version's, or the user's own build."""

from collections.abc import Mapping
from pathlib import Path

from onceproof import jars
from onceproof.errors import UsageError
from onceproof.jars.lock import STREAMS_PREFIX
from onceproof.jars.own import STREAMS_LIBRARY, OwnJars, own_jars
from onceproof.suspects.streams.properties import DEFAULT_VERSION, OWN_JARS, VERSION


def streams_classpath(settings: Mapping[str, str]) -> list[Path]:
    own = own_streams(settings)
    if own is None:
        return jars.classpath(STREAMS_PREFIX + settings[VERSION])
    return own.with_log_binding(STREAMS_PREFIX + DEFAULT_VERSION)


def own_streams(settings: Mapping[str, str]) -> OwnJars | None:
    """None: a version of the lock is meant. JarError: the folder is not what it should be."""
    if not settings.get(OWN_JARS):
        return None
    folder = Path(settings[OWN_JARS])
    if not folder.is_absolute():
        raise UsageError(f"--set {OWN_JARS} takes the whole path of a folder; got {folder}")
    return own_jars(folder, STREAMS_LIBRARY, "--streams-jars")
