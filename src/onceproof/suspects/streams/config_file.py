"""The user's own properties file (`--streams-config`). Pure but for reading it.

Its values may be secrets: only its path goes into settings, reports and arguments, and only the
instance reads the values, with Java's own reader. Here its names are looked at, before anything is
started.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from onceproof.errors import UsageError

OPTION = "--streams-config"
# What a trial rests on: topics, group, proxy, state and quota are found by these.
OURS = (
    "application.id",
    "bootstrap.servers",
    "client.id",
    "state.dir",
    "processing.guarantee",
)
_CLIENTS = ("main.consumer.", "restore.consumer.", "global.consumer.", "consumer.", "producer.")
_CLIENT = re.compile("|".join(re.escape(name) for name in (*_CLIENTS, "admin.")))
_NAME = re.compile(r"\s*((?:\\.|[^\\\s=:])+)")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")


def check_config_file(path: Path) -> None:
    """UsageError: it cannot be read, or names a property that is not the user's here."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise UsageError(f"{OPTION} {path} cannot be read: {why}") from error
    check_names(property_names(text), f"{OPTION} {path}")


def check_names(names: Iterable[str], where: str) -> None:
    for name in names:
        if _CLIENT.sub("", name, count=1) in OURS:
            raise UsageError(
                f"{where}: {name} is set by the trial, which rests on it; leave it out"
                " (a guarantee is chosen by --suspect)"
            )


def property_names(text: str) -> Iterator[str]:
    """As java.util.Properties reads them: comments, continued lines and escapes."""
    for line in _logical_lines(text):
        found = _NAME.match(line)
        if found:
            yield _ESCAPE.sub(_unescaped, found[1])


def _logical_lines(text: str) -> Iterator[str]:
    whole = ""
    for line in text.splitlines():
        part = line.lstrip()
        if not whole and (not part or part[0] in "#!"):
            continue
        whole += part
        if (len(whole) - len(whole.rstrip("\\"))) % 2:
            whole = whole[:-1]
            continue
        yield whole
        whole = ""
    if whole:
        yield whole


def _unescaped(found: re.Match[str]) -> str:
    return chr(int(found[1], 16)) if found[1] else found[2]
