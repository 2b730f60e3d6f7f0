"""A repository that is served, and what the cache holds."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from maven_repository import Repository, serving


@pytest.fixture
def repository(monkeypatch: pytest.MonkeyPatch) -> Iterator[Repository]:
    monkeypatch.setattr("onceproof.jars.fetch.PAUSE_S", 0.01)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    repository = Repository()
    with serving(repository) as address:
        monkeypatch.setenv("ONCEPROOF_MAVEN_REPOSITORY", address)
        yield repository


@pytest.fixture
def files(tmp_path: Path) -> Callable[[], list[str]]:
    """The names of all files in the cache, but for its lock."""

    def names() -> list[str]:
        found = (path for path in tmp_path.rglob("*") if path.is_file())
        return sorted(path.name for path in found if path.name != ".lock")

    return names
