"""One broker and one Spark session for all trials of a module: a trial brings its own topics."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from onceproof.cluster.local import LocalCluster
from onceproof.trial.spark import JudgeSpark


@pytest.fixture(scope="module")
def judge_spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JudgeSpark]:
    """Not for longer: a process has one Spark, and tests of other folders start their own."""
    folder: Path = tmp_path_factory.mktemp("judge")
    spark = JudgeSpark.start(folder, folder / "scratch")
    yield spark
    spark.stop()


@pytest.fixture(scope="module")
def one_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    folder: Path = tmp_path_factory.mktemp("brokers")
    with LocalCluster.start(directory=folder / "data", logs=folder, brokers=1) as cluster:
        yield cluster
