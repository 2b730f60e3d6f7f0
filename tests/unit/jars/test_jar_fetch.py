"""Fetching against a repository that misbehaves: what is cached is right, or is not there."""

import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from maven_repository import CONTENT, Repository

from onceproof.errors import JarError
from onceproof.jars import cache
from onceproof.jars.lock import Artifact

Files = Callable[[], list[str]]


def ensure(directory: Path, *artifacts: Artifact) -> None:
    cache.ensure(artifacts, directory, None)


def test_a_missing_jar_is_fetched_and_a_cached_one_is_not(
    repository: Repository, tmp_path: Path, files: Files
) -> None:
    ensure(tmp_path, repository.artifact())
    ensure(tmp_path, repository.artifact())
    assert (tmp_path / repository.artifact().path).read_bytes() == CONTENT
    assert repository.requests == ["/org/example/one/1.0/one-1.0.jar"]
    assert files() == ["one-1.0.jar"]


def test_progress_ends_at_the_total_of_what_was_missing(
    repository: Repository, tmp_path: Path
) -> None:
    told: list[tuple[int, int]] = []
    artifacts = [repository.artifact("one"), repository.artifact("two")]
    ensure(tmp_path, artifacts[0])
    repository.cut_after = [300_000]
    cache.ensure(artifacts, tmp_path, lambda done, total: told.append((done, total)))
    assert told[-1] == (len(CONTENT), len(CONTENT))
    assert max(told) == told[-1]


def test_an_answer_cut_off_is_resumed_where_it_broke(
    repository: Repository, tmp_path: Path
) -> None:
    repository.cut_after = [300_000]
    ensure(tmp_path, repository.artifact())
    assert repository.ranges == ["bytes=300000-"]
    assert (tmp_path / repository.artifact().path).read_bytes() == CONTENT


def test_what_a_killed_process_left_is_resumed(repository: Repository, tmp_path: Path) -> None:
    part = tmp_path / (repository.artifact().path + ".part")
    part.parent.mkdir(parents=True)
    part.write_bytes(CONTENT[:1000])
    ensure(tmp_path, repository.artifact())
    assert repository.ranges == ["bytes=1000-"]
    assert (tmp_path / repository.artifact().path).read_bytes() == CONTENT


def test_rubbish_that_a_killed_process_left_is_fetched_anew(
    repository: Repository, tmp_path: Path, files: Files
) -> None:
    part = tmp_path / (repository.artifact().path + ".part")
    part.parent.mkdir(parents=True)
    part.write_bytes(b"rubbish")
    ensure(tmp_path, repository.artifact())
    assert (tmp_path / repository.artifact().path).read_bytes() == CONTENT
    assert files() == ["one-1.0.jar"]


def test_a_repository_without_ranges_starts_over(repository: Repository, tmp_path: Path) -> None:
    repository.cut_after = [300_000]
    repository.ranges_supported = False
    ensure(tmp_path, repository.artifact())
    assert (tmp_path / repository.artifact().path).read_bytes() == CONTENT


def test_a_bad_checksum_is_one_line_and_leaves_nothing(
    repository: Repository, tmp_path: Path, files: Files
) -> None:
    repository.content = CONTENT[:-1] + b"!"
    with pytest.raises(JarError) as caught:
        ensure(tmp_path, repository.artifact())
    assert str(caught.value).startswith("jar org.example:one:1.0 is not what the lock says: got")
    assert "\n" not in str(caught.value)
    assert files() == []


def test_an_answer_longer_than_the_jar_is_refused(
    repository: Repository, tmp_path: Path, files: Files
) -> None:
    repository.content = CONTENT * 3
    with pytest.raises(JarError, match="is not what the lock says"):
        ensure(tmp_path, repository.artifact())
    assert files() == []


def test_a_network_that_stays_broken_is_one_line_and_leaves_nothing(
    repository: Repository, tmp_path: Path, files: Files
) -> None:
    repository.cut_after = [300_000, 0, 0]
    with pytest.raises(JarError) as caught:
        ensure(tmp_path, repository.artifact())
    assert str(caught.value) == (
        "jar org.example:one:1.0 could not be fetched from 127.0.0.1: cut off after 300000 of"
        " 1024000 bytes (3 attempts); check the network or proxy,"
        " or set ONCEPROOF_MAVEN_REPOSITORY; then run again"
    )
    assert files() == []


def test_a_dead_network_names_the_jar(
    repository: Repository, tmp_path: Path, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}"
    monkeypatch.setenv("ONCEPROOF_MAVEN_REPOSITORY", address)
    with pytest.raises(JarError, match=r"jar org\.example:one:1\.0 could not be fetched"):
        ensure(tmp_path, repository.artifact())
    assert files() == []


def test_a_jar_the_repository_lacks_is_asked_for_once(
    repository: Repository, tmp_path: Path
) -> None:
    repository.status = 404
    with pytest.raises(JarError, match=r"refused by 127\.0\.0\.1: HTTP 404 Not Found; set"):
        ensure(tmp_path, repository.artifact())
    assert len(repository.requests) == 1


def test_a_server_in_trouble_is_asked_three_times(repository: Repository, tmp_path: Path) -> None:
    repository.status = 503
    with pytest.raises(JarError, match="HTTP 503"):
        ensure(tmp_path, repository.artifact())
    assert len(repository.requests) == 3


@pytest.mark.parametrize("spoiled", [CONTENT[:-1], CONTENT[:-1] + b"!", b""])
def test_a_corrupt_cache_heals_itself(
    repository: Repository, tmp_path: Path, spoiled: bytes
) -> None:
    ensure(tmp_path, repository.artifact())
    jar = tmp_path / repository.artifact().path
    jar.write_bytes(spoiled)
    ensure(tmp_path, repository.artifact())
    assert jar.read_bytes() == CONTENT


def test_one_bad_jar_keeps_the_finished_ones(
    repository: Repository, tmp_path: Path, files: Files
) -> None:
    ensure(tmp_path, repository.artifact("good"))
    repository.content = b"bad"
    with pytest.raises(JarError, match=r"org\.example:bad"):
        ensure(tmp_path, repository.artifact("good"), repository.artifact("bad"))
    assert files() == ["good-1.0.jar"]


def test_two_at_once_fetch_each_jar_once(repository: Repository, tmp_path: Path) -> None:
    """Threads stand for processes: the lock is the open file's, and each opens its own."""
    artifacts = [repository.artifact(name) for name in ("one", "two", "three")]
    with ThreadPoolExecutor() as both:
        runs = [both.submit(ensure, tmp_path, *artifacts) for _ in range(2)]
    assert [run.result() for run in runs] == [None, None]
    assert len(repository.requests) == 3
    assert all((tmp_path / artifact.path).read_bytes() == CONTENT for artifact in artifacts)


def test_a_cache_that_cannot_be_written_says_which(repository: Repository, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(JarError, match=r"jar cache .*/file/jars cannot be written"):
        ensure(tmp_path / "file" / "jars", repository.artifact())
