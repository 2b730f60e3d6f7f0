"""`offsets` and `doctor` at a cluster that asks who they are: --command-config, and what is said
where a user may not ask.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from onceproof.cli.main import main
from onceproof.cluster import topics
from onceproof.cluster.local import LocalCluster
from onceproof.cluster.security import MECHANISM, Access, Doorkeeper, Secured

TOPIC, USER, PASSWORD = "guarded", "reader", "pass word"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
DESCRIBE = Access(operation="describe", resource="topic", name=TOPIC)
READ = Access(operation="read", resource="topic", name=TOPIC)


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Secured:
    return Secured.make(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def cluster(secured: Secured, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    folder: Path = tmp_path_factory.mktemp("secured")
    with LocalCluster.start(
        directory=folder / "data", logs=folder, brokers=1, properties=secured.properties()
    ) as started:
        topics.create_topic(started.client(), TOPIC, partitions=1)
        yield started


def config_of(secured: Secured, folder: Path, password: str) -> str:
    path = folder / "client.properties"
    path.write_text(
        "# as kafka-topics takes it\n"
        "security.protocol=SASL_SSL\n"
        f"sasl.mechanism={MECHANISM}\n"
        f"sasl.jaas.config={SCRAM} required \\\n"
        f'   username="{USER}" password="{password}";\n'
        f"ssl.truststore.type=PEM\nssl.truststore.location={secured.ca}\n"
        "max.poll.records=7\n"
    )
    return str(path)


def test_a_user_is_told_what_he_may_not_ask(
    cluster: LocalCluster, secured: Secured, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    doorkeeper = Doorkeeper(cluster.bootstrap("judge"))
    doorkeeper.add_user(USER, PASSWORD)
    asked = ["--bootstrap-server", cluster.bootstrap("suspects")]
    asked += ["--command-config", config_of(secured, tmp_path, PASSWORD)]

    def told(*arguments: str, code: int) -> str:
        capsys.readouterr()
        assert main([*arguments, *asked]) == code
        (line,) = capsys.readouterr().err.splitlines()
        assert PASSWORD not in line
        return line

    line = told("offsets", "--topic", TOPIC, code=254)
    assert f"no topic '{TOPIC}' at " in line
    assert "or none that this user may see; there: none" in line
    doorkeeper.allow(USER, [DESCRIBE])
    line = told("offsets", "--topic", TOPIC, code=255)
    assert f"producers of {TOPIC}-0: TopicAuthorizationFailedError; this user may not" in line
    doorkeeper.allow(USER, [READ])
    capsys.readouterr()
    assert main(["offsets", "--topic", TOPIC, *asked]) == 0
    assert f"{TOPIC}-0" in capsys.readouterr().out
    assert main(["doctor", "--between-s", "0.1", *asked]) == 2
    printed = capsys.readouterr().out
    assert f"could not be told: min.insync.replicas of {TOPIC}: " in printed
    assert "nothing found; looked at 1 brokers, 0 topics" in printed


@pytest.mark.jury  # a refused login is tried again for ten seconds
def test_a_wrong_password_is_told_in_one_line_without_it(
    cluster: LocalCluster, secured: Secured, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = config_of(secured, tmp_path, "wrong one")
    asked = ["offsets", "--bootstrap-server", cluster.bootstrap("suspects")]
    assert main([*asked, "--command-config", config]) == 255
    (line,) = capsys.readouterr().err.splitlines()
    assert "no broker answers at " in line
    assert "wrong one" not in line
