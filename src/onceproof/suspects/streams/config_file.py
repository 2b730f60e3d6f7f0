"""The user's own properties file (`--streams-config`). Pure but for reading it.

Its values may be secrets: only its path goes into settings, reports and arguments, and only the
instance reads the values, with Java's own reader. Here its names are looked at, before anything is
started.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from onceproof.errors import UsageError
from onceproof.sink.errors import SinkError
from onceproof.sink.properties import read_properties

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


def check_config_file(path: Path) -> None:
    """UsageError: it cannot be read, or names a property that is not the user's here."""
    try:
        given = read_properties(path, OPTION)
    except SinkError as error:
        raise UsageError(str(error)) from error
    check_names(given, f"{OPTION} {path}")


def check_names(names: Iterable[str], where: str) -> None:
    for name in names:
        if _CLIENT.sub("", name, count=1) in OURS:
            raise UsageError(
                f"{where}: {name} is set by the trial, which rests on it; leave it out"
                " (a guarantee is chosen by --suspect)"
            )
