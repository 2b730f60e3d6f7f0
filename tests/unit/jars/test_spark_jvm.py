"""The class-data archive of Spark's JVM: kept whole, thrown away when cut short."""

from pathlib import Path

from onceproof.jars.spark_jvm import SparkJvm, _whole_archive


def kept(folder: Path, content: bytes) -> Path | None:
    fresh = folder / "spark-judge-abc.123.part"
    fresh.write_bytes(content)
    SparkJvm(classpath="", java_options="", fresh_archive=fresh).keep_archive()
    assert not fresh.exists()
    return _whole_archive(folder, "spark-judge-abc")


def test_an_archive_left_by_a_clean_end_is_found_again(tmp_path: Path) -> None:
    archive = kept(tmp_path, b"x" * 10)
    assert archive is not None
    assert archive.read_bytes() == b"x" * 10


def test_an_archive_that_was_cut_short_is_thrown_away(tmp_path: Path) -> None:
    archive = kept(tmp_path, b"x" * 10)
    assert archive is not None
    archive.write_bytes(b"x" * 4)
    assert _whole_archive(tmp_path, "spark-judge-abc") is None
    assert not archive.exists()


def test_a_jvm_that_left_no_archive_changes_nothing(tmp_path: Path) -> None:
    fresh = tmp_path / "spark-judge-abc.123.part"
    SparkJvm(classpath="", java_options="", fresh_archive=fresh).keep_archive()
    assert _whole_archive(tmp_path, "spark-judge-abc") is None
