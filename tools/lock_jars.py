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
import hashlib
import importlib.util
import json
import re
import sys
import tempfile
import tomllib
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from jgo.maven import Dependency, MavenContext

from onceproof.jars.lock import LOCK_FILE, repository_path
from onceproof.jars.repository import repository_address

SETS_FILE = Path(__file__).with_name("jar_sets.toml")
SCOPES = ("compile", "runtime", None)
TIMEOUT_S = 60
THREADS = 8


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
    sets: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as poms:
        maven = MavenContext(repo_cache=Path(poms), remote_repos={"central": repository_address()})
        for family in tomllib.loads(SETS_FILE.read_text(encoding="utf-8"))["set"]:
            for version in family["versions"]:
                sets[family["name"].format(version=version)] = resolve(maven, family, version)
    needed = sorted({coordinates for members in sets.values() for coordinates in members})
    with ThreadPoolExecutor(THREADS) as threads:
        facts = threads.map(lambda coordinates: known.get(coordinates) or read(coordinates), needed)
        return {"artifacts": dict(zip(needed, facts, strict=True)), "sets": sets}


def resolve(maven: MavenContext, family: dict[str, Any], version: str) -> list[str]:
    """The coordinates of one set: roots first, in their order; then the rest, by name."""
    roots = [first_available(root.format(version=version)) for root in family["roots"]]
    if not family.get("transitive", True):
        return roots
    dependencies = [maven.create_dependency(f"{root}") for root in roots]
    for dependency in dependencies:
        dependency.raw = (
            True  # else jgo lets the root's managed versions rule, which Maven does not
        )
    _, transitive = maven.resolver.resolve(dependencies)
    rest = sorted(coordinates(each) for each in transitive if each.scope in SCOPES)
    members = [*roots, *rest]
    members += companions(members, family.get("same_version_as", {}))
    return without(members, family.get("without_jars_of"), keep=roots)


def first_available(root: str) -> str:
    """`group:artifact:1|2` → the first of these versions whose jar the repository has."""
    first, *others = root.split("|")
    project = first.rpartition(":")[0]
    candidates = [first, *(f"{project}:{version}" for version in others)]
    for candidate in candidates:
        if available(candidate):
            return candidate
    raise SystemExit(f"none of {', '.join(candidates)} can be had")


def available(wanted: str) -> bool:
    request = urllib.request.Request(address(wanted), method="HEAD")
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S):
            return True
    except urllib.error.HTTPError as error:
        if error.code == 404:
            return False
        raise


def coordinates(dependency: Dependency) -> str:
    parts = [dependency.groupId, dependency.artifactId, dependency.version, dependency.classifier]
    return ":".join(part for part in parts if part)


def companions(members: list[str], same_version_as: dict[str, str]) -> list[str]:
    versions = {member.rpartition(":")[0]: member.rpartition(":")[2] for member in members}
    return [f"{project}:{versions[other]}" for project, other in same_version_as.items()]


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


def read(wanted: str) -> dict[str, Any]:
    content = get(address(wanted))
    published = get(address(wanted) + ".sha1").decode().split()[0]
    if hashlib.sha1(content).hexdigest() != published:
        raise SystemExit(f"{wanted} is not what its repository's sha1 says; try again")
    return {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}


def get(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=TIMEOUT_S) as response:
        content: bytes = response.read()
        return content


def address(wanted: str) -> str:
    return f"{repository_address()}/{repository_path(wanted)}"


def render(lock: dict[str, Any]) -> str:
    return json.dumps(lock, indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    sys.exit(main())
