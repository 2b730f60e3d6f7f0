"""One broker for all tests of a module: each brings its own topics."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from onceproof.cluster.local import LocalCluster


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    folder: Path = tmp_path_factory.mktemp("broker")
    with LocalCluster.start(directory=folder / "data", logs=folder, brokers=1) as started:
        yield started
