"""Where PostgreSQL is looked for, and what is said where there is none. No server is started."""

import os
import tempfile
from pathlib import Path

import pytest

from onceproof.cli.main import main
from onceproof.databases import postgres, postgres_binaries
from onceproof.databases.postgres_binaries import NOT_INSTALLED, find_postgres, postgres_version
from onceproof.errors import MachineError


def install(folder: Path, *programs: str) -> Path:
    folder.mkdir(parents=True)
    for name in programs:
        (folder / name).write_text("#!/bin/sh\necho 'postgres (PostgreSQL) 17.2 (Debian)'\n")
        (folder / name).chmod(0o755)
    return folder


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(postgres_binaries, "PLACES", (f"{tmp_path}/lib/*/bin",))
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    return tmp_path


def test_the_newest_package_is_taken_by_number_and_path_goes_first(packages: Path) -> None:
    install(packages / "lib" / "9" / "bin", "postgres", "initdb")
    newest = install(packages / "lib" / "17" / "bin", "postgres", "initdb")
    install(packages / "lib" / "18" / "bin", "initdb")  # the server itself is not there
    assert find_postgres() == newest
    assert postgres_version() == "17.2"
    chosen = install(packages / "path", "postgres", "initdb")
    assert find_postgres() == chosen


def test_without_a_server_one_line_says_what_to_install(packages: Path) -> None:
    install(packages / "path", "psql")
    with pytest.raises(MachineError, match=r"no PostgreSQL server found \(PATH, .*; install "):
        find_postgres()
    assert postgres_version() == NOT_INSTALLED


def test_what_a_killed_run_left_is_removed_and_a_living_ones_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ours = tmp_path / f"{postgres.LEFT_OVER}{os.getpid()}-x"
    theirs = tmp_path / f"{postgres.LEFT_OVER}4194305-x"  # no process can have this number
    strange = tmp_path / f"{postgres.LEFT_OVER}mine-x"
    for folder in (ours, theirs, strange):
        (folder / "data").mkdir(parents=True)
    postgres.remove_left_overs()
    assert (ours.exists(), theirs.exists(), strange.exists()) == (True, False, True)


def test_a_run_without_a_server_ends_with_that_line_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(postgres_binaries, "_candidates", list)
    asked = ["run", "tc01_normal", "--suspect", "consumer_postgres", "--workload", "copy"]
    assert main([*asked, "--runs-dir", str(tmp_path)]) == MachineError.exit_code
    assert "onceproof: no PostgreSQL server found (PATH, " in capsys.readouterr().err
    assert list(tmp_path.rglob("broker*")) == []
