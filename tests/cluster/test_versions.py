"""Every Kafka version of the lock starts, commits a transaction, has its feature levels."""

from pathlib import Path

import pytest

from onceproof import jars
from onceproof.cluster import roles, topics
from onceproof.cluster.local import LocalCluster
from onceproof.errors import UsageError
from onceproof.sink import exactly_once_kafka
from onceproof.sink.ledger.topic import warn_of_old_brokers
from onceproof.sink.settings import Settings

VERSIONS = sorted(jars.kafka_versions())
# The oldest and the newest always, those in between in the jury.
EACH = [
    VERSIONS[0],
    *(pytest.param(version, marks=pytest.mark.jury) for version in VERSIONS[1:-1]),
    VERSIONS[-1],
]


@pytest.mark.parametrize("version", EACH)
def test_one_broker_of_each_version_commits_a_transaction_and_the_sink_warns_of_old_ones(
    version: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with LocalCluster.start(
        version, brokers=1, directory=tmp_path / "data", logs=tmp_path / "logs"
    ) as cluster:
        client = cluster.client()
        levels = client.feature_levels()
        assert topics.stable_offsets(client, "__onceproof_ready") == {0: 2}
        assert roles.active_controller(client) == 1
        with caplog.at_level("WARNING", logger="onceproof.sink"):
            warn_of_old_brokers(sink_of(cluster))
    told = "these brokers do not verify transactional writes" in caplog.text
    assert told == (version < "3.6")
    expected = {"transaction.version": 2, "group.version": 1} if version >= "4" else {}
    assert expected.items() <= levels.items()
    assert levels["metadata.version"] > 0


def sink_of(cluster: LocalCluster) -> Settings:
    options = {"kafka.bootstrap.servers": cluster.bootstrap("suspects")}
    return exactly_once_kafka(sink_id="s", topic="out", options=options)._announcer.settings


def test_an_unknown_version_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"unknown Kafka version '9\.9'; known: 3\.3\.1, "):
        LocalCluster.start("9.9", directory=tmp_path / "data", logs=tmp_path / "logs")
