"""Small batches, written whole by the driver: one transaction, and still exactly once."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow
import pytest
from committed import committed
from pyspark.sql import DataFrame, SparkSession
from whole_line import Pipeline, die_after_the_commit, each_key

from onceproof.cluster.local import LocalCluster
from onceproof.sink import whole
from onceproof.sink.announcing import Announcer
from onceproof.sink.errors import UncollectedError
from onceproof.sink.execution import collect_rows
from onceproof.sink.ledger.entries import Cut, Manifest
from onceproof.sink.ledger.reader import last_entry


@pytest.fixture
def line(cluster: LocalCluster, spark: SparkSession, tmp_path: Path) -> Iterator[Pipeline]:
    return Pipeline(cluster, spark, tmp_path, jvm=False)


def test_small_batches_are_written_whole_and_large_ones_by_lanes_in_one_and_the_same_query(
    line: Pipeline,
) -> None:
    line.feed()
    line.run(line.sink())
    line.feed(4_000)  # taken for four megabytes
    line.run(line.sink())
    line.feed()
    line.run(line.sink())
    assert line.reports == [("whole", False, 20), ("partitions", False, 20), ("whole", False, 20)]
    assert line.counts() == each_key(3, 203, 206)


def test_a_batch_that_was_committed_before_the_driver_died_is_not_written_again(
    line: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    line.feed()
    die_after_the_commit(line, monkeypatch, Announcer, "write_whole")
    line.run(line.sink())
    line.feed()
    line.run(line.sink())
    assert line.reports == [("whole", True, 20), ("whole", False, 20)]
    assert line.counts() == each_key(3, 6)


def test_a_replay_that_differs_stops(line: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    line.feed()
    die_after_the_commit(line, monkeypatch, Announcer, "write_whole")
    line.shape = "concat(count + 1, '') AS value"
    with pytest.raises(Exception, match=r"batch 0: the replayed rows are not those.*`accept`"):
        line.run(line.sink())
    assert line.counts() == each_key(3)


def test_a_zombie_that_collected_its_rows_cannot_commit_them_after_its_successor(
    line: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The successor does all its work between the zombie's rows and the zombie's transaction."""
    line.feed()
    zombie, successor = line.sink(), line.sink()
    real = Announcer.write_whole
    told: list[str] = []

    def successor_first(announcer: Announcer, *given: object) -> None:
        if announcer is zombie._announcer and not told:
            told.append("successor ran")
            # Its own checkpoint knows nothing of the zombie's batch yet: the same batch again.
            lead = successor._announcer.lead(*given[1:3])  # type: ignore[arg-type]
            rows = successor._whole.collect(line.spark.sql("SELECT 'k0' AS key, '3' AS value"))
            real(successor._announcer, lead, *given[1:3], rows)  # type: ignore[arg-type]
        return real(announcer, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(Announcer, "write_whole", successor_first)
    with pytest.raises(Exception, match="the replayed rows are not those that were committed"):
        line.run(zombie)
    assert told == ["successor ran"]
    assert line.counts() == {b"k0": [3]}


def test_a_record_that_brokers_refuse_is_told_once_and_leaves_nothing(line: Pipeline) -> None:
    line.feed()
    line.shape = "repeat('x', 2000000) AS value"
    with pytest.raises(Exception, match=r"batch 0: .*kafka.max.request.size"):
        line.run(line.sink())
    assert committed(line.cluster, line.name) == []


def test_more_than_the_driver_may_collect_goes_by_lanes(
    line: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    line.feed()
    line.shape = "repeat('x', 100000) AS value"
    sink = line.sink()

    def as_spark_does(rows: DataFrame) -> Iterator[pyarrow.RecordBatch]:
        yield next(iter(collect_rows(rows)))
        raise UncollectedError("bigger than spark.driver.maxResultSize")

    monkeypatch.setattr(whole, "collect_rows", as_spark_does)
    line.run(sink)
    assert line.reports == [("partitions", False, 20)]
    assert len(committed(line.cluster, line.name)) == 20


def test_a_task_that_fails_leaves_nothing_and_its_batch_is_written_once_by_the_next_start(
    line: Pipeline,
) -> None:
    line.feed()
    line.shape = "if(assert_true(key != 'k7') IS NULL, concat(count, ''), '') AS value"
    with pytest.raises(Exception, match="assert_true"):
        line.run(line.sink())
    line.shape = "concat(count, '') AS value"
    line.run(line.sink())
    assert line.reports == [("whole", False, 20)]
    assert line.counts() == each_key(3)


def test_the_manifest_of_a_whole_batch_tells_its_rows(line: Pipeline) -> None:
    line.feed()
    line.run(line.sink())
    manifest = last_entry(line.sink()._announcer.settings, 0)
    assert isinstance(manifest, Manifest)
    assert (manifest.cut, manifest.lanes, manifest.rows) == (Cut.WHOLE, 0, 20)
