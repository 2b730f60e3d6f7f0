"""What a jar needs besides itself, and what it holds: asked of the Maven repository.

```
 group:artifact:version ──▶ jgo: its poms ──▶ all it needs at run time ──▶ each: size, sha256
```

A new jar is read once and held against the sha1 its repository publishes.
"""

import hashlib
import http.client
import tempfile
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from onceproof.errors import JarError
from onceproof.jars.lock import repository_path
from onceproof.jars.repository import repository_address

SCOPES = ("compile", "runtime", None)
TIMEOUT_S = 60
THREADS = 8


def is_available(wanted: str) -> bool:
    request = urllib.request.Request(_address(wanted), method="HEAD")
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S):
            return True
    except urllib.error.HTTPError as error:
        if error.code == http.HTTPStatus.NOT_FOUND:
            return False
        raise _unreachable(wanted, error) from error
    except (OSError, http.client.HTTPException) as error:  # the second: an answer that broke off
        raise _unreachable(wanted, error) from error


def resolve(roots: Sequence[str], same_version_as: Mapping[str, str]) -> list[str]:
    """The roots, then all they need at run time, by name; then jars that nothing depends on, at
    the version of one that was resolved.
    """
    # Imported late: it costs a quarter of a second, and only a version outside the lock needs it.
    from jgo.maven import MavenContext

    with tempfile.TemporaryDirectory() as poms:
        maven = MavenContext(repo_cache=Path(poms), remote_repos={"central": repository_address()})
        dependencies = [maven.create_dependency(root) for root in roots]
        for dependency in dependencies:
            # Else jgo lets the root's managed versions rule, which Maven does not.
            dependency.raw = True
        try:
            _, transitive = maven.resolver.resolve(dependencies)
        except Exception as error:  # jgo has no kind of its own, and hands on what it meets
            raise _unreachable(f"what {', '.join(roots)} needs", error) from error
    rest = sorted(_coordinates(each) for each in transitive if each.scope in SCOPES)
    members = [*roots, *rest]
    versions = {member.rpartition(":")[0]: member.rpartition(":")[2] for member in members}
    return members + [f"{jar}:{versions[other]}" for jar, other in same_version_as.items()]


def facts_of(wanted: Sequence[str], known: Mapping[str, Any]) -> dict[str, Any]:
    """Size and sha256 of each; a released jar never changes, so what is known is not read again."""
    with ThreadPoolExecutor(THREADS) as threads:
        facts = threads.map(lambda each: known.get(each) or _read(each), wanted)
        return dict(zip(wanted, facts, strict=True))


def _coordinates(dependency: Any) -> str:
    parts = [dependency.groupId, dependency.artifactId, dependency.version, dependency.classifier]
    return ":".join(part for part in parts if part)


def _read(wanted: str) -> dict[str, Any]:
    content = _get(wanted, _address(wanted))
    published = _get(wanted, _address(wanted) + ".sha1").decode().split()[0]
    if hashlib.sha1(content).hexdigest() != published:
        raise JarError(f"{wanted} is not what its repository's sha1 says; try again")
    return {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}


def _get(wanted: str, url: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_S) as response:
            content: bytes = response.read()
            return content
    except (OSError, http.client.HTTPException) as error:  # the second: an answer that broke off
        raise _unreachable(wanted, error) from error


def _unreachable(wanted: str, error: Exception) -> JarError:
    return JarError(f"{wanted} could not be asked for: {error}; check the network or proxy")


def _address(wanted: str) -> str:
    return f"{repository_address()}/{repository_path(wanted)}"
