"""What the tests of the sink share: one broker, and Spark as the judge starts it.

A module that needs another cluster has a fixture of the same name.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from onceproof.cluster.local import LocalCluster
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
