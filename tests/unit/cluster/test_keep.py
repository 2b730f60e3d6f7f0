import os
from pathlib import Path

import pytest

from onceproof.cluster.keep import KeptBroker, KeptCluster, load
from onceproof.errors import ClusterError
from onceproof.process import start_ticks


def kept(pid: int, started_ticks: int) -> KeptCluster:
    broker = KeptBroker(
        id=1, pid=pid, started_ticks=started_ticks, log="b.log", addresses={"JUDGE": "h:1"}
    )
    return KeptCluster(version="4.3.1", directory="data", brokers=(broker,))


def test_a_recycled_pid_is_not_taken_for_the_broker_and_never_killed() -> None:
    own_start = start_ticks(os.getpid())
    assert own_start is not None
    assert kept(os.getpid(), own_start).running() == [1]
    stranger = kept(os.getpid(), own_start - 1)
    assert stranger.running() == []
    stranger.stop()  # would end this test


def test_a_missing_state_file_says_that_nothing_is_kept(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match="no cluster is kept"):
        load(tmp_path / "cluster.json")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"brokers": [{"id": 1}]}'])
def test_a_broken_state_file_is_named(tmp_path: Path, text: str) -> None:
    state_file = tmp_path / "cluster.json"
    state_file.write_text(text)
    with pytest.raises(ClusterError, match=r"cluster\.json is not a state file of a cluster"):
        load(state_file)
