from pathlib import Path

import pytest

from onceproof.cluster.classdata import ClassArchive


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ClassArchive:
    monkeypatch.setenv("ONCEPROOF_CACHE", str(tmp_path / "cache"))
    jar = tmp_path / "kafka.jar"
    jar.write_bytes(b"classes")
    return ClassArchive.of("4.3.1", "OpenJDK 17.0.15", [jar])


def record(archive: ClassArchive, content: bytes) -> bool:
    recording = archive.recording(broker_id=3)
    recording.path.write_bytes(content)
    return recording.finish()


def test_nothing_is_there_before_a_broker_recorded_it(archive: ClassArchive) -> None:
    assert not archive.is_sound()


def test_what_a_broker_recorded_is_kept(archive: ClassArchive) -> None:
    assert record(archive, b"archive")
    assert archive.is_sound()
    assert archive.path.read_bytes() == b"archive"


def test_a_broker_that_was_killed_leaves_nothing(archive: ClassArchive) -> None:
    assert not archive.recording(broker_id=3).finish()
    assert not record(archive, b"")
    assert not archive.is_sound()
    assert list(archive.path.parent.iterdir()) == []


def test_a_damaged_archive_is_thrown_away(archive: ClassArchive) -> None:
    record(archive, b"archive")
    archive.path.write_bytes(b"archivE")
    assert not archive.is_sound()
    assert not archive.path.exists()


def test_another_jvm_and_other_jars_have_archives_of_their_own(
    archive: ClassArchive, tmp_path: Path
) -> None:
    jar = tmp_path / "kafka.jar"
    assert ClassArchive.of("4.3.1", "OpenJDK 17.0.15", [jar]) == archive
    assert ClassArchive.of("4.3.1", "OpenJDK 21.0.1", [jar]) != archive
    jar.write_bytes(b"other classes")
    assert ClassArchive.of("4.3.1", "OpenJDK 17.0.15", [jar]) != archive
