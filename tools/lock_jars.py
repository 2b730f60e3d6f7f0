"""Make src/onceproof/jars/lock.json out of tools/jar_sets.toml.

```
 jar_sets.toml ──▶ jgo resolves ──▶ coordinates ──▶ each jar read ──▶ size, sha256 ──▶ lock.json
```

    PYTHONPATH=src .venv/bin/python tools/lock_jars.py          make the lock
    PYTHONPATH=src .venv/bin/python tools/lock_jars.py --check  fail if the lock is not up to date

1. Each set of jar_sets.toml is resolved as Maven does for the scopes compile and runtime.
2. Jars that the lock knows already are not read again: a released jar never changes.
3. A new jar is read once and held against the sha1 its repository publishes.
4. The lock is written sorted, so that a change shows as the lines that changed.
To add a version or a set, edit jar_sets.toml and run this; commit both files.
"""

import argparse
import importlib.util
import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

from onceproof.jars.lock import LOCK_FILE
from onceproof.jars.resolve import facts_of, is_available, resolve

SETS_FILE = Path(__file__).with_name("jar_sets.toml")


def main() -> int:
    arguments = argparse.ArgumentParser(description="make the lock of the JVM jars")
    arguments.add_argument("--check", action="store_true", help="only compare, exit 1 if outdated")
    check = arguments.parse_args().check
    text = render(make_lock(known_artifacts()))
    if not check:
        LOCK_FILE.write_text(text, encoding="utf-8")
        return 0
    return 0 if LOCK_FILE.read_text(encoding="utf-8") == text else 1


def known_artifacts() -> dict[str, Any]:
    if not LOCK_FILE.exists():
        return {}
    artifacts: dict[str, Any] = json.loads(LOCK_FILE.read_text(encoding="utf-8"))["artifacts"]
    return artifacts


def make_lock(known: dict[str, Any]) -> dict[str, Any]:
    sets = {
        family["name"].format(version=version): members_of(family, version)
        for family in tomllib.loads(SETS_FILE.read_text(encoding="utf-8"))["set"]
        for version in family["versions"]
    }
    needed = sorted({coordinates for members in sets.values() for coordinates in members})
    return {"artifacts": facts_of(needed, known), "sets": sets}


def members_of(family: dict[str, Any], version: str) -> list[str]:
    """The coordinates of one set: roots first, in their order; then the rest, by name."""
    roots = [first_available(root.format(version=version)) for root in family["roots"]]
    if not family.get("transitive", True):
        return roots
    members = resolve(roots, family.get("same_version_as", {}))
    return without(members, family.get("without_jars_of"), keep=roots)


def first_available(root: str) -> str:
    """`group:artifact:1|2` → the first of these versions whose jar the repository has."""
    first, *others = root.split("|")
    project = first.rpartition(":")[0]
    candidates = [first, *(f"{project}:{version}" for version in others)]
    for candidate in candidates:
        if is_available(candidate):
            return candidate
    raise SystemExit(f"none of {', '.join(candidates)} can be had")


def without(members: list[str], package: str | None, keep: list[str]) -> list[str]:
    if package is None:
        return members
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise SystemExit(f"{package} is not installed; its jars must be known to be left out")
    jars = [jar.name for jar in (Path(spec.origin).parent / "jars").iterdir()]
    return [member for member in members if member in keep or not carried(member, jars)]


def carried(member: str, jars: list[str]) -> bool:
    """Is this artifact among the jars, in any version? Versions look like 1.5.7 or 1.5.7-7."""
    artifact = member.split(":")[1]
    pattern = re.compile(rf"{re.escape(artifact)}-\d[\w.]*(-\d+)?\.jar")
    return any(pattern.fullmatch(jar) for jar in jars)


def render(lock: dict[str, Any]) -> str:
    return json.dumps(lock, indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    sys.exit(main())
