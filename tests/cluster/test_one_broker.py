"""One real broker: kept and foreign clusters, proxied addresses, the ways a start can fail."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from onceproof.cluster import keep, readiness, topics
from onceproof.cluster.external import ExternalCluster
from onceproof.cluster.jvm import broker_software
from onceproof.cluster.local import LocalCluster
from onceproof.cluster.ports import HeldPorts
from onceproof.cluster.settings import SUSPECTS
from onceproof.deadline import Deadline
from onceproof.errors import ClusterError, UsageError


def start(directory: Path, **options: object) -> LocalCluster:
    """One broker of the default version."""
    return LocalCluster.start(
        brokers=1,
        directory=directory / "data",
        logs=directory / "logs",
        **options,  # type: ignore[arg-type]
    )


def test_two_clusters_side_by_side_share_no_port(tmp_path: Path) -> None:
    with start(tmp_path / "first") as first, start(tmp_path / "second") as second:
        ports = [set(each.brokers[1].plan.ports.values()) for each in (first, second)]
        assert ports[0].isdisjoint(ports[1])
        assert first.client().live_brokers() == second.client().live_brokers() == {1}


def test_suspects_are_told_the_advertised_address_and_the_judge_the_real_one(
    tmp_path: Path,
) -> None:
    asked = []

    def advertise(broker_id: int, listener: str, bound: str) -> str:
        asked.append((broker_id, listener, bound))
        return "127.0.0.1:9" if listener == SUSPECTS else bound

    with start(tmp_path, advertise=advertise) as cluster:
        bound = cluster.brokers[1].plan.bound(SUSPECTS)
        assert (1, SUSPECTS, bound) in asked
        assert cluster.bootstrap("suspects") == "127.0.0.1:9"
        with ExternalCluster(bound) as seen_by_suspects:
            (told,) = seen_by_suspects.client().metadata([]).brokers
        assert (told.host, told.port) == ("127.0.0.1", 9)
        assert cluster.client().live_brokers() == {1}


def test_a_kept_cluster_outlives_its_command_and_is_stopped_by_another(tmp_path: Path) -> None:
    state_file = tmp_path / "cluster.json"
    command = (
        "import sys, pathlib\n"
        "from onceproof.cluster import keep\n"
        "from onceproof.cluster.local import LocalCluster\n"
        "root = pathlib.Path(sys.argv[1])\n"
        "cluster = LocalCluster.start(\n"
        "    brokers=1, directory=root / 'data', logs=root / 'logs', outlives_us=True\n"
        ")\n"
        "keep.save(cluster, root / 'cluster.json')\n"
    )
    subprocess.run([sys.executable, "-c", command, str(tmp_path)], check=True, timeout=90)
    kept = keep.load(state_file)
    try:
        assert kept.running() == [1]
        readiness.commit_transaction(kept.bootstrap(), readiness.READY_TOPIC, Deadline(20))
        # To us it is now a cluster of others: it answers, its brokers are out of reach.
        with ExternalCluster(kept.bootstrap()) as foreign:
            assert topics.stable_offsets(foreign.client(), readiness.READY_TOPIC) == {0: 4}
            with pytest.raises(UsageError, match="was not started by onceproof"):
                foreign.broker(1)
    finally:
        kept.stop()
    assert kept.running() == []
    assert keep.load(state_file).running() == []


def test_overridden_properties_have_the_last_word(tmp_path: Path) -> None:
    with start(tmp_path, properties={"transaction.state.log.num.partitions": "7"}) as cluster:
        assert len(topics.end_offsets(cluster.client(), "__transaction_state")) == 7


def test_a_property_that_kafka_refuses_is_named_in_the_error(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match=r"broker 1 ended; exit code 1; .*num\.io\.threads"):
        start(tmp_path, properties={"num.io.threads": "many"})


def test_a_jvm_that_cannot_start_is_named_in_the_error(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match=r"broker 1 ended; .*heap"):
        start(tmp_path, jvm_flags=["-Xmx1m", "-Xms4g"])


def test_a_port_taken_meanwhile_leads_to_other_ports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as squatter:
        taken = squatter.getsockname()[1]
        honest = HeldPorts.take
        attempts = []

        def take_squatted_first(self: HeldPorts, count: int) -> list[int]:
            ports = honest(self, count)
            attempts.append(ports)
            return [taken, *ports[1:]] if len(attempts) == 1 else ports

        monkeypatch.setattr(HeldPorts, "take", take_squatted_first)
        told = []
        with start(tmp_path, progress=told.append) as cluster:
            assert taken not in cluster.brokers[1].plan.ports.values()
    assert len(attempts) == 2
    assert "a port was taken meanwhile; starting on other ports" in told


def test_a_directory_that_holds_brokers_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "data" / "broker-1").mkdir(parents=True)
    with pytest.raises(ClusterError, match="holds brokers already"):
        start(tmp_path)


def test_a_start_that_takes_too_long_tells_the_last_state(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match=r"no broker answers .*broker 1: still runs"):
        start(tmp_path, deadline=Deadline(0.5))


@pytest.mark.jury
def test_a_damaged_archive_of_classes_is_replaced(tmp_path: Path) -> None:
    archive = broker_software("4.3.1").class_archive()
    with start(tmp_path / "recording"):
        pass
    assert archive.is_sound()
    with archive.path.open("rb") as file:
        whole = file.read()
    archive.path.unlink()
    archive.path.write_bytes(whole[: len(whole) // 2])
    with start(tmp_path / "healing") as cluster:
        assert re.search("ArchiveClassesAtExit", command_line(cluster.brokers[1].pid))
    assert archive.is_sound()


def command_line(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
