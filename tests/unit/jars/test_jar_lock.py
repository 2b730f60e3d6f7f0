"""The committed lock is whole, and names are found or refused."""

import json

import pytest

from onceproof import jars
from onceproof.errors import UsageError
from onceproof.jars.lock import LOCK_FILE, committed_lock, repository_path

BINDINGS = {
    "slf4j-simple",
    "slf4j-reload4j",
    "slf4j-log4j12",
    "log4j-slf4j-impl",
    "logback-classic",
}


def test_kafka_versions_come_oldest_first() -> None:
    assert jars.kafka_versions() == ["3.3.1", "3.8.0", "3.9.0", "3.9.1", "4.1.2", "4.3.1"]


def test_every_locked_artifact_belongs_to_a_set_and_has_a_size_and_a_sha256() -> None:
    content = json.loads(LOCK_FILE.read_text(encoding="utf-8"))
    used = {coordinates for members in content["sets"].values() for coordinates in members}
    assert used == set(content["artifacts"])
    for facts in content["artifacts"].values():
        assert facts["size"] > 0
        assert len(bytes.fromhex(facts["sha256"])) == 32


@pytest.mark.parametrize("version", jars.kafka_versions())
def test_a_broker_has_exactly_one_log_binding_that_fits_its_api(version: str) -> None:
    members = committed_lock().artifacts(f"kafka-{version}")
    parts = [artifact.coordinates.split(":") for artifact in members]
    versions = {artifact: version for _, artifact, version in parts}
    assert BINDINGS & set(versions) == {"slf4j-simple"}
    assert versions["slf4j-simple"] == versions["slf4j-api"]


def test_no_set_holds_one_artifact_in_two_versions() -> None:
    for name in jars.known_sets():
        members = [artifact.coordinates for artifact in committed_lock().artifacts(name)]
        versions = {tuple(member.split(":")[:3]) for member in members}  # classifiers left out
        assert len(versions) == len({project[:2] for project in versions}), name


def test_an_unknown_set_lists_the_known_ones() -> None:
    with pytest.raises(
        UsageError, match=r"unknown jar set 'kafka-9'; known: byteman-4\.0\.27, cassandra-5\.0\.9, "
    ):
        jars.classpath("kafka-9")


def test_a_classifier_goes_to_the_end_of_the_file_name() -> None:
    path = repository_path("io.netty:netty-epoll:4.1:linux-x86_64")
    assert path == "io/netty/netty-epoll/4.1/netty-epoll-4.1-linux-x86_64.jar"
