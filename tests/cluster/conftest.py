"""What the tests of the sink share: one broker, and Spark as the judge starts it.

A module that needs another cluster has a fixture of the same name.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jvm_bench import QUERY, Bench, Passes
from pyspark.sql import SparkSession

from onceproof.cluster.local import LocalCluster
from onceproof.sink import leader
from onceproof.sink.jvm.lanes import JvmLanes
from onceproof.sink.reports import LaneReport
from onceproof.trial.spark import JudgeSpark


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    folder: Path = tmp_path_factory.mktemp("broker")
    with LocalCluster.start(directory=folder / "data", logs=folder, brokers=1) as started:
        yield started


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    folder: Path = tmp_path_factory.mktemp("spark")
    started = JudgeSpark.start(folder, folder / "scratch")
    yield started.session
    started.stop()


@pytest.fixture
def jvm_bench(
    cluster: LocalCluster,
    spark: SparkSession,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> Bench:
    # Called without a streaming query around it, so the query's id is given by hand.
    monkeypatch.setattr(leader, "query_of", lambda _: QUERY)
    return Bench(cluster, spark, str(abs(hash(request.node.name))))


@pytest.fixture
def in_the_jvm(monkeypatch: pytest.MonkeyPatch) -> Passes:
    """The reports of each pass that the JVM has made."""
    seen: Passes = []
    real = JvmLanes.write

    def write(lanes: JvmLanes, *given: Any) -> list[LaneReport]:
        seen.append(real(lanes, *given))
        return seen[-1]

    monkeypatch.setattr(JvmLanes, "write", write)
    return seen
