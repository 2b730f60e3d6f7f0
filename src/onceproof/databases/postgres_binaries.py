"""Where PostgreSQL's server is on this machine: Debian keeps it off PATH, each version apart."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from onceproof.errors import MachineError
from onceproof.machine import package_advice
from onceproof.process import own_environment

PLACES = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin")
PROGRAMS = ("postgres", "initdb")
ANSWER_S_MAX = 10.0
NOT_INSTALLED = "not installed"


def find_postgres() -> Path:
    """The folder of its programs: that of PATH, else the newest where packages put it."""
    for folder in _candidates():
        if all(os.access(folder / name, os.X_OK) for name in PROGRAMS):
            return folder
    advice = package_advice(
        debian="postgresql", fedora="postgresql-server", otherwise="PostgreSQL's server"
    )
    raise MachineError(
        f"no PostgreSQL server found (PATH, {', '.join(PLACES)}),"
        f" which consumer_postgres writes into; {advice}"
    )


def postgres_version() -> str:
    try:
        program = find_postgres() / "postgres"
    except MachineError:
        return NOT_INSTALLED
    asked = [str(program), "--version"]
    said = subprocess.run(
        asked,
        capture_output=True,
        text=True,
        env=own_environment(),
        timeout=ANSWER_S_MAX,
        check=False,
    )
    found = re.search(r"\d+(\.\d+)*", said.stdout)
    return found[0] if found else NOT_INSTALLED


def _candidates() -> list[Path]:
    on_path = shutil.which(PROGRAMS[0])
    first = [] if on_path is None else [Path(on_path).resolve().parent]
    placed = [path for place in PLACES for path in Path("/").glob(place.removeprefix("/"))]
    return first + sorted(placed, key=_version_in, reverse=True)


def _version_in(path: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", str(path))]
