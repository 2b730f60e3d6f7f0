"""Whose address is taken: the variable's, a mirror's, jgo's."""

from pathlib import Path

import pytest
from jgo.constants import MAVEN_CENTRAL_URL

from onceproof.errors import JarError
from onceproof.jars.repository import repository_address

SETTINGS = """<settings xmlns="urn:any"><mirrors>
<mirror><mirrorOf>external:http:*</mirrorOf><url>http://blocker</url><blocked>true</blocked></mirror>
<mirror><mirrorOf>{mirror_of}</mirrorOf><url>https://mirror.example/maven/</url></mirror>
</mirrors></settings>"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("ONCEPROOF_MAVEN_REPOSITORY", raising=False)
    (tmp_path / ".m2").mkdir()
    return tmp_path


def test_without_any_setting_it_is_jgos_default() -> None:
    assert repository_address() == MAVEN_CENTRAL_URL.rstrip("/")


@pytest.mark.parametrize("mirror_of", ["central", "*", "external:*", "a, central"])
def test_a_mirror_of_central_is_taken(home: Path, mirror_of: str) -> None:
    (home / ".m2" / "settings.xml").write_text(SETTINGS.format(mirror_of=mirror_of))
    assert repository_address() == "https://mirror.example/maven"


@pytest.mark.parametrize("mirror_of", ["snapshots", "*,!central", "external:http:*"])
def test_a_mirror_of_something_else_is_not(home: Path, mirror_of: str) -> None:
    (home / ".m2" / "settings.xml").write_text(SETTINGS.format(mirror_of=mirror_of))
    assert repository_address() == MAVEN_CENTRAL_URL.rstrip("/")


def test_the_variable_goes_before_a_mirror(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / ".m2" / "settings.xml").write_text(SETTINGS.format(mirror_of="*"))
    monkeypatch.setenv("ONCEPROOF_MAVEN_REPOSITORY", "https://mine.example/")
    assert repository_address() == "https://mine.example"


def test_settings_that_are_no_xml_are_named(home: Path) -> None:
    (home / ".m2" / "settings.xml").write_text("<settings>")
    with pytest.raises(JarError, match=r"settings\.xml is not XML"):
        repository_address()
