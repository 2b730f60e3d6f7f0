"""A folder of the user's own jars instead of a version of the lock."""

import hashlib
import re
import zipfile
from pathlib import Path

import pytest

from onceproof.errors import JarError, OnceproofError, UsageError
from onceproof.machine import Java
from onceproof.suspects.streams.own_jars import streams_classpath
from onceproof.trial.about import versions
from onceproof.trial.many.axis import MatrixRequest, plan_axes
from onceproof.trial.planning.plan import make_plan
from onceproof.trial.planning.request import Request

STREAMS = "kafka_20685_stale_checkpoint"
BROKERS = "kafka_17507_marker_race"


def make_jars(folder: Path, *names: str) -> Path:
    for name in names:
        with zipfile.ZipFile(folder / f"{name}.jar", "w") as jar:
            jar.writestr("content", name)
    return folder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    java = Java(home=Path(), executable=Path(), version="17")
    monkeypatch.setattr("onceproof.trial.about.find_java", lambda: java)
    return make_jars(
        tmp_path,
        "kafka-streams-9.9.0-SNAPSHOT",
        "kafka-streams-9.9.0-SNAPSHOT-sources",
        "kafka-streams-test-utils-9.9.0",
        "kafka_2.13-9.8.0",
        "slf4j-simple-1",
    )


def test_the_verdict_says_which_build_it_was(folder: Path) -> None:
    plan = make_plan(Request(suspect="streams_java", streams_jars=folder, kafka_jars=folder))
    jar = folder / "kafka-streams-9.9.0-SNAPSHOT.jar"
    digest = hashlib.sha256(jar.read_bytes()).hexdigest()[:12]
    told = versions(plan)
    assert told["kafka streams"] == f"9.9.0-SNAPSHOT (own jars: {jar.name}, sha256 {digest}…)"
    assert told["kafka"].startswith("9.8.0 (own jars: kafka_2.13-9.8.0.jar, sha256 ")
    assert plan.scenario.kafka == "9.8.0"
    assert f"--kafka-jars {folder} --streams-jars {folder}" in plan.repeat


def test_all_its_jars_are_the_class_path(folder: Path) -> None:
    found = streams_classpath({"streams": "4.3.1", "streams_jars": str(folder)})
    assert [jar.name for jar in found] == [
        "kafka-streams-9.9.0-SNAPSHOT.jar",
        "kafka-streams-test-utils-9.9.0.jar",
        "kafka_2.13-9.8.0.jar",
        "slf4j-simple-1.jar",
    ]


@pytest.mark.parametrize(("path", "kind"), [("/nowhere/at/all", JarError), ("jars", UsageError)])
def test_a_folder_without_the_library_is_told(path: str, kind: type[OnceproofError]) -> None:
    with pytest.raises(kind, match=re.escape(path)) as told:
        make_plan(Request(suspect="streams_exactly_once", settings=(f"streams_jars={path}",)))
    assert re.search("streams.jars", str(told.value))
    with pytest.raises(JarError, match=r"--kafka-jars: .* is no folder; it must hold kafka_2"):
        make_plan(Request(kafka_jars=Path("nowhere")))


def test_a_jar_that_is_half_there_is_named(folder: Path) -> None:
    whole = (folder / "slf4j-simple-1.jar").read_bytes()
    (folder / "slf4j-simple-1.jar").write_bytes(whole[:40])
    with pytest.raises(JarError, match=r"slf4j-simple-1.jar is not a whole jar \(40 bytes\)"):
        make_plan(Request(kafka_jars=folder))


def test_two_builds_in_one_folder_are_refused(folder: Path) -> None:
    make_jars(folder, "kafka-streams-9.9.1")
    with pytest.raises(UsageError, match=r"must hold one kafka-streams-<version>.jar.*; got 2"):
        make_plan(Request(suspect="streams_java", streams_jars=folder))


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (Request(streams_jars=Path("x")), "--streams-jars goes with suspects of Kafka Streams"),
        (Request(kafka="4.3.1", kafka_jars=Path("x")), "leave --kafka out"),
        (Request(streams="4.3.1", streams_jars=Path("x")), "leave --streams out"),
    ],
)
def test_what_does_not_go_with_it_is_told(request_: Request, message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        make_plan(request_)


def test_a_matrix_has_one_row_more_and_expects_nothing_of_it(folder: Path, tmp_path: Path) -> None:
    (axis,) = plan_axes(MatrixRequest(scenario=STREAMS, streams_jars=folder), tmp_path)
    assert [at.version for at in axis.versions][-1] == "9.9.0-SNAPSHOT (own jars)"
    assert axis.versions[-1].expected is None
    assert axis.versions[-1].plan.settings["streams_jars"] == str(folder)
    (axis,) = plan_axes(MatrixRequest(scenario=BROKERS, kafka_jars=folder), tmp_path)
    assert axis.versions[-1].plan.scenario.kafka == "9.8.0"
    with pytest.raises(UsageError, match=f"--streams-jars: {BROKERS} goes along kafka"):
        plan_axes(MatrixRequest(scenario=BROKERS, streams_jars=folder), tmp_path)
