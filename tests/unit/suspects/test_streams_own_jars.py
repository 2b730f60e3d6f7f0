"""A folder of the user's own jars instead of a version of the lock."""

import re
from pathlib import Path

import pytest

from onceproof.errors import UsageError
from onceproof.machine import Java
from onceproof.suspects.streams.own_jars import own_version, streams_classpath
from onceproof.trial.about import versions
from onceproof.trial.plan import Request, make_plan


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (
        "kafka-streams-9.9.0-SNAPSHOT",
        "kafka-streams-test-utils-9.9.0",
        "slf4j-simple-1",
    ):
        (tmp_path / f"{name}.jar").touch()
    return tmp_path


def test_its_version_is_in_the_name_of_the_library(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = Java(home=Path(), executable=Path(), version="17")
    monkeypatch.setattr("onceproof.trial.about.find_java", lambda: java)
    assert own_version(folder) == "9.9.0-SNAPSHOT"
    request = Request(suspect="streams_java", settings=(f"streams_jars={folder}",))
    assert versions(make_plan(request))["kafka streams"] == "9.9.0-SNAPSHOT (own jars)"


def test_all_its_jars_are_the_class_path(folder: Path) -> None:
    found = streams_classpath({"streams": "4.3.1", "streams_jars": str(folder)})
    assert [jar.name for jar in found] == [
        "kafka-streams-9.9.0-SNAPSHOT.jar",
        "kafka-streams-test-utils-9.9.0.jar",
        "slf4j-simple-1.jar",
    ]


@pytest.mark.parametrize("path", ["/nowhere/at/all", "jars"])
def test_a_folder_without_the_library_is_told(path: str) -> None:
    request = Request(suspect="streams_exactly_once", settings=(f"streams_jars={path}",))
    with pytest.raises(UsageError, match=re.escape(f"{path}")) as told:
        make_plan(request)
    assert "streams_jars" in str(told.value)
