"""A version that the committed lock does not have: locked in the cache, or told that it is none."""

import json
import re
from pathlib import Path

import pytest
from maven_repository import Repository

from onceproof.errors import JarError, UsageError
from onceproof.jars.local_lock import artifacts_of, is_committed, is_lockable


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ONCEPROOF_CACHE", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("name", ["streams-3.6.2", "kafka-4.0.0"])
def test_a_release_may_be_locked(name: str) -> None:
    assert is_lockable(name)


@pytest.mark.parametrize("name", ["streams-", "streams-new", "streams-4", "spark-4.2.0", "kafka-x"])
def test_anything_else_may_not(name: str) -> None:
    assert not is_lockable(name)
    with pytest.raises(UsageError, match=f"unknown jar set '{name}'; known: byteman-4"):
        artifacts_of(name)


def test_what_is_committed_is_taken_from_there(repository: Repository, cache: Path) -> None:
    assert is_committed("streams-4.3.1")
    assert artifacts_of("streams-4.3.1")[0].coordinates == "org.apache.kafka:kafka-streams:4.3.1"
    assert (repository.requests, list(cache.iterdir())) == ([], [])


def test_what_was_locked_before_is_not_asked_for_again(repository: Repository, cache: Path) -> None:
    coordinates = "org.example:one:1.0"
    lock = {
        "artifacts": {coordinates: {"size": 1, "sha256": "0"}},
        "sets": {"streams-9.8.7": [coordinates]},
    }
    (cache / "locks").mkdir()
    (cache / "locks" / "streams-9.8.7.json").write_text(json.dumps(lock))
    assert [each.coordinates for each in artifacts_of("streams-9.8.7")] == [coordinates]
    assert repository.requests == []


@pytest.mark.parametrize("damage", ["", "{", "[]", "{}", '{"artifacts": {}, "sets": {}}'])
def test_a_damaged_one_is_asked_for_again(damage: str, repository: Repository, cache: Path) -> None:
    (cache / "locks").mkdir()
    (cache / "locks" / "streams-9.9.9.json").write_text(damage)
    repository.status = 404
    with pytest.raises(UsageError, match=re.escape("there is no Kafka Streams 9.9.9")):
        artifacts_of("streams-9.9.9")


def test_a_version_that_does_not_exist_is_told(repository: Repository, cache: Path) -> None:
    repository.status = 404
    told = (
        "there is no Kafka Streams 9.9.9: the repository has no"
        " org.apache.kafka:kafka-streams:9.9.9; locked: 3.3.1"
    )
    with pytest.raises(UsageError, match=re.escape(told)):
        artifacts_of("streams-9.9.9")
    assert not (cache / "locks").exists()


def test_a_repository_that_fails_says_nothing_about_versions(repository: Repository) -> None:
    repository.status = 503
    with pytest.raises(JarError, match="could not be asked for: HTTP Error 503"):
        artifacts_of("streams-9.9.9")
