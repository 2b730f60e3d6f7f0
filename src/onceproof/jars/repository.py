"""The address of the Maven repository. No address is written down here: it belongs to the machine.

Asked in this order: `ONCEPROOF_MAVEN_REPOSITORY`, a mirror in `~/.m2/settings.xml`, jgo's default.
"""

import os
from pathlib import Path
from xml.etree import ElementTree

from onceproof.errors import JarError

REPOSITORY_VARIABLE = "ONCEPROOF_MAVEN_REPOSITORY"
SETTINGS_FILE = Path(".m2") / "settings.xml"


def repository_address() -> str:
    """The address without a slash at its end."""
    chosen = os.environ.get(REPOSITORY_VARIABLE) or _mirror(Path.home() / SETTINGS_FILE)
    return (chosen or _default()).rstrip("/")


def _mirror(settings: Path) -> str | None:
    """The first mirror that stands for Maven's central repository."""
    if not settings.exists():
        return None
    try:
        root = ElementTree.parse(settings).getroot()
    except ElementTree.ParseError as error:
        raise JarError(
            f"{settings} is not XML: {error}; mend it or set {REPOSITORY_VARIABLE}"
        ) from error
    for mirror in root.iterfind("{*}mirrors/{*}mirror"):
        blocked = mirror.findtext("{*}blocked", "false").strip() == "true"
        if not blocked and _covers_central(mirror.findtext("{*}mirrorOf", "")):
            return mirror.findtext("{*}url", "").strip() or None
    return None


def _covers_central(mirror_of: str) -> bool:
    """Maven's own pattern: names separated by commas, `*` for all, `!name` for all but that."""
    patterns = {pattern.strip() for pattern in mirror_of.split(",")}
    return "!central" not in patterns and bool(patterns & {"central", "*", "external:*"})


def _default() -> str:
    try:
        # Imported late: it costs a quarter of a second, and only a fetch needs it.
        from jgo.constants import MAVEN_CENTRAL_URL
    except ImportError as error:
        raise JarError(
            f"no Maven repository is known;"
            f" pip install 'onceproof[lab]' or set {REPOSITORY_VARIABLE}"
        ) from error
    return str(MAVEN_CENTRAL_URL)
