"""The sink on a real broker with real Spark: replays, foreign owners, changed lane counts."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pyarrow
import pytest
from committed import committed
from pyspark.sql import DataFrame, SparkSession

from onceproof.cluster import topics
from onceproof.cluster.local import LocalCluster
from onceproof.sink import ExactlyOnceKafka, exactly_once_kafka, leader
from onceproof.sink.driver_lanes import DriverLanes
from onceproof.sink.errors import OwnershipError, RefusedError, ReplayError, SinkError
from onceproof.sink.lane import carry_out, open_lane
from onceproof.sink.ledger.entries import Manifest, lane_partition
from onceproof.sink.ledger.reader import last_entry
from onceproof.sink.ledger.topic import ensure_ledger
from onceproof.sink.reports import LaneReport, LaneState
from onceproof.sink.rows import LaneRows
from onceproof.sink.work import Work

ROWS = 40
QUERY = "q-1"


class Bench:
    """One output topic and its sink, called as foreachBatch would call it."""

    def __init__(self, cluster: LocalCluster, spark: SparkSession, name: str) -> None:
        self.cluster = cluster
        self.spark = spark
        self.topic = f"out-{name}"
        topics.create_topic(cluster.client(), self.topic, partitions=2)

    def sink(self, lanes: int = 3, *, timeout_ms: int = 60_000, **changes: Any) -> ExactlyOnceKafka:
        return exactly_once_kafka(
            sink_id=f"sink-{self.topic}",
            topic=self.topic,
            lanes=lanes,
            options={
                "kafka.bootstrap.servers": self.cluster.bootstrap("suspects"),
                "kafka.transaction.timeout.ms": str(timeout_ms),
                "kafka.topic.metadata.propagation.max.ms": "1000",
            },
            **{"jvm": False, **changes},
        )

    def command(self, name: str, *more: str) -> str:
        """What `python -m onceproof.sink` says; SystemExit with its error if it fails."""
        place = ("--bootstrap-server", self.cluster.bootstrap("suspects"))
        given = [sys.executable, "-m", "onceproof.sink", name, "--sink-id", f"sink-{self.topic}"]
        ended = subprocess.run(
            [*given, *place, *more], capture_output=True, text=True, timeout=60, check=False
        )
        if ended.returncode:
            raise SystemExit(ended.stderr)
        return ended.stdout

    def rows(self, batch: int, value: str = "v") -> DataFrame:
        return self.spark.range(ROWS).selectExpr(
            "CAST(id AS STRING) AS key", f"concat('{value}{batch}-', id) AS value"
        )

    def write_only_lane_2(self, sink: ExactlyOnceKafka, monkeypatch: pytest.MonkeyPatch) -> None:
        """The driver dies before the other lanes are written."""
        real = DriverLanes.complete

        def die_after_lane_2(
            lanes: DriverLanes, reports: list[LaneReport], lane_of: dict[int, int], work: Work
        ) -> list[LaneReport]:
            real(lanes, [report for report in reports if report.lane == 2], lane_of, work)
            raise SystemExit

        with monkeypatch.context() as death:
            death.setattr(DriverLanes, "complete", die_after_lane_2)
            with pytest.raises(SystemExit):
                sink(self.rows(0), 0)

    def visible(self) -> list[str]:
        """What a plain read_committed consumer sees, sorted."""
        return sorted(each.value().decode() for each in committed(self.cluster, self.topic))


@pytest.fixture
def bench(
    cluster: LocalCluster,
    spark: SparkSession,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> Bench:
    # Called without a streaming query around it, so the query's id is given by hand.
    monkeypatch.setattr(leader, "query_of", lambda _: QUERY)
    return Bench(cluster, spark, str(abs(hash(request.node.name))))


def expected(*batches: int) -> list[str]:
    return sorted(f"v{batch}-{row}" for batch in batches for row in range(ROWS))


def test_a_batch_that_is_replayed_by_a_successor_comes_out_once(bench: Bench) -> None:
    bench.sink()(bench.rows(0), 0)
    bench.sink()(bench.rows(0), 0)
    bench.sink()(bench.rows(1), 1)
    assert bench.visible() == expected(0, 1)


def test_a_partly_committed_batch_is_completed_with_its_recorded_lane_count(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.write_only_lane_2(bench.sink(lanes=4), monkeypatch)
    assert 0 < len(bench.visible()) < ROWS
    bench.sink(lanes=2)(bench.rows(0), 0)
    bench.sink(lanes=2)(bench.rows(1), 1)
    assert bench.visible() == expected(0, 1)


def test_replayed_rows_that_differ_stop_the_sink_before_anything_is_written(bench: Bench) -> None:
    bench.sink()(bench.rows(0), 0)
    with pytest.raises(ReplayError, match="are not those that were committed"):
        bench.sink()(bench.rows(0, value="other"), 0)
    assert bench.visible() == expected(0)


def test_an_empty_batch_leaves_a_token_on_every_lane(bench: Bench) -> None:
    sink = bench.sink(lanes=3, small_batch_bytes=0)
    sink(bench.rows(0).where("false"), 0)
    assert [report.lane for report in sink.last_reports] == [0, 1, 2]
    for lane in range(3):
        entry = last_entry(sink._announcer.settings, lane_partition(lane))
        assert entry is not None
        assert (entry.batch, getattr(entry, "rows", None)) == (0, 0)


def test_a_lane_without_rows_in_a_batch_with_rows_leaves_its_token_too(bench: Bench) -> None:
    sink = bench.sink(lanes=8)
    sink(bench.rows(0).where("key = '7'"), 0)
    assert [report.rows for report in sink.last_reports].count(0) == 7
    bench.sink(lanes=8)(bench.rows(0).where("key = '7'"), 0)
    assert bench.visible() == ["v0-7"]


def test_another_query_a_rolled_back_and_a_lost_ledger_are_refused(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(OwnershipError, match="a checkpoint without its ledger"):
        bench.sink()(bench.rows(3), 3)
    bench.sink(adopt=True)(bench.rows(3), 3)
    with pytest.raises(OwnershipError, match="the checkpoint was rolled back"):
        bench.sink()(bench.rows(2), 2)
    monkeypatch.setattr(leader, "query_of", lambda _: "q-2")
    with pytest.raises(OwnershipError, match="a ledger without its checkpoint"):
        bench.sink()(bench.rows(0), 0)
    bench.sink(takeover=True)(bench.rows(0), 0)
    assert bench.visible() == expected(0, 3)


def test_a_takeover_is_remembered_and_who_was_overtaken_does_not_take_the_sink_back(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_lanes = {"lanes": 3, "small_batch_bytes": 0}
    overtaken = bench.sink(**in_lanes, takeover=True)
    overtaken(bench.rows(0), 0)
    monkeypatch.setattr(leader, "query_of", lambda _: "q-2")
    bench.sink(takeover=True, small_batch_bytes=2**20)(bench.rows(1), 0)  # whole: no lane of q-2
    bench.sink(**in_lanes)(bench.rows(2), 1)  # lanes with tokens of q-1, without the flag
    monkeypatch.setattr(leader, "query_of", lambda _: QUERY)
    with pytest.raises(OwnershipError, match="query q-2 has taken it over from this one"):
        overtaken(bench.rows(3), 1)
    # Nor in a later life: of its batch 0, which Spark may replay, the ledger tells nothing now.
    with pytest.raises(OwnershipError, match=r"was taken over from this query .*another sink_id"):
        bench.sink(**in_lanes, takeover=True)(bench.rows(0), 0)
    assert bench.visible() == expected(0, 1, 2)


def test_a_driver_that_was_away_finds_out_what_its_successor_did(bench: Bench) -> None:
    away = bench.sink(lanes=4)
    away(bench.rows(0), 0)
    successor = bench.sink(lanes=2)
    successor(bench.rows(1), 1)
    away(bench.rows(1), 1)  # same batch, other lane count: the recorded one is used
    successor(bench.rows(2), 2)
    with pytest.raises(OwnershipError, match="the checkpoint was rolled back"):
        away(bench.rows(1), 1)
    assert bench.visible() == expected(0, 1, 2)
    manifest = last_entry(away._announcer.settings, 0)
    assert isinstance(manifest, Manifest)
    assert json.loads(manifest.to_bytes())["lanes_ever"] == 4


def test_a_ledger_that_forgets_is_refused(bench: Bench) -> None:
    sink = bench.sink()
    ledger = sink._announcer.settings.ledger_topic
    topics.create_topic(
        bench.cluster.client(), ledger, partitions=5, config={"cleanup.policy": "delete"}
    )
    with pytest.raises(SinkError, match=rf"ledger {ledger} has cleanup.policy=delete; expected"):
        sink(bench.rows(0), 0)
    assert bench.visible() == []


def test_an_operator_accepts_what_is_committed_and_the_missing_lanes_are_written(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = bench.sink(lanes=4)
    bench.write_only_lane_2(sink, monkeypatch)
    before = bench.visible()
    other = bench.rows(0, value="other")
    with pytest.raises(ReplayError, match=r"batch 0, lane 2: .*`python -m onceproof.sink inspect`"):
        bench.sink()(other, 0)
    assert bench.visible() == before
    told = bench.command("inspect")
    assert "lane 2: committed" in told
    assert "3 of 4 lanes missing" in told
    assert "accept, by" in bench.command("accept", "--batch", "0", "--reason", "seen and judged")
    bench.sink()(other, 0)
    bench.sink()(bench.rows(1), 1)
    # Lane 2 as it was, the other lanes as they are now.
    values = bench.visible()
    assert len(values) == 2 * ROWS
    assert [value for value in values if value.startswith("v0")] == before
    assert "last batch 1" in bench.command("inspect")


def test_an_operator_who_mistypes_the_sinks_id_is_told_at_once(bench: Bench) -> None:
    with pytest.raises(SystemExit, match=r"there is no ledger typo\.ledger; is the sink"):
        bench.command("inspect", "--sink-id", "typo")


def test_an_operator_skips_a_batch_and_the_next_one_is_written(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    bench.write_only_lane_2(bench.sink(lanes=4), monkeypatch)
    before = bench.visible()
    with pytest.raises(SystemExit, match="is not the last one"):
        bench.command("skip", "--batch", "5", "--reason", "a slip of the hand")
    bench.command("skip", "--batch", "0", "--reason", "gone for good")
    assert "ruling: skip" in bench.command("inspect")
    skipping = bench.sink()
    skipping(bench.rows(0, value="other"), 0)
    assert bench.visible() == before
    assert skipping.last_batch is not None
    assert skipping.last_batch.rows == 0
    assert f"of its {ROWS} rows the {len(before)} of lanes 2 are committed" in caplog.text
    bench.sink()(bench.rows(1), 1)
    assert bench.visible() == sorted(before + expected(1))


def test_a_lane_that_outlasts_the_transaction_timeout_names_both_and_writes_nothing(
    bench: Bench,
) -> None:
    settings = bench.sink(lanes=1, timeout_ms=2_000)._announcer.settings
    ensure_ledger(settings, 1)

    def slowly() -> Iterator[pyarrow.RecordBatch]:
        values = pyarrow.array([b"late"], pyarrow.binary())
        hashes = pyarrow.array([1], pyarrow.int64())
        for _ in range(4):
            threading.Event().wait(0.8)
            yield pyarrow.RecordBatch.from_arrays([values, hashes], ["value", "__hash"])

    work = Work(settings=settings, query=QUERY, batch=1)
    report = carry_out(open_lane(settings, 0), work, LaneRows(slowly()), 0)
    assert report.state == LaneState.OUTLASTED
    assert "batch 1, lane 0: writing took" in report.detail
    assert "kafka.transaction.timeout.ms is 2000 (2.0 s)" in report.detail
    assert report.rows == 4  # read to the end all the same
    assert bench.visible() == []


def test_rows_that_the_brokers_refuse_stop_the_sink_once_and_leave_nothing(bench: Bench) -> None:
    large = bench.rows(0).selectExpr("key", "repeat('x', 2000000) AS value").limit(1)
    for small_lane_bytes in (0, 10_000_000):
        with pytest.raises(RefusedError, match=r"batch 0, lane \d: .*kafka.max.request.size"):
            bench.sink(small_lane_bytes=small_lane_bytes)(large, 0)
    assert bench.visible() == []


@pytest.mark.parametrize("small_batch_bytes", [0, 2**20], ids=["lanes", "whole"])
def test_a_topic_that_is_deleted_while_the_query_runs_stops_it_by_name(
    bench: Bench, small_batch_bytes: int
) -> None:
    sink = bench.sink(small_batch_bytes=small_batch_bytes)
    for batch in range(2):
        sink(bench.rows(batch), batch)
    topics.delete_topic(bench.cluster.client(), bench.topic)
    with pytest.raises(RefusedError, match=rf"batch 2.*{bench.topic}"):
        sink(bench.rows(2), 2)


def test_the_plain_path_writes_the_same(bench: Bench) -> None:
    bench.sink(fast=False)(bench.rows(0), 0)
    bench.sink(fast=False, small_lane_bytes=0)(bench.rows(1), 1)
    bench.sink()(bench.rows(1), 1)
    assert bench.visible() == expected(0, 1)


def test_a_number_for_a_key_is_refused_by_name(bench: Bench) -> None:
    numbers = bench.rows(0).selectExpr("CAST(key AS INT) AS key", "value")
    with pytest.raises(SinkError, match=r"the column key must be binary or .*; got int: cast it"):
        bench.sink()(numbers, 0)


@pytest.mark.parametrize("fast", [True, False], ids=["fast", "plain"])
@pytest.mark.parametrize("way", ["whole", "driver", "executors"])
def test_a_row_without_a_topic_is_refused_once_and_leaves_nothing(
    bench: Bench, way: str, *, fast: bool
) -> None:
    sink = exactly_once_kafka(
        sink_id=f"sink-{bench.topic}",
        options={"kafka.bootstrap.servers": bench.cluster.bootstrap("suspects")},
        lanes=1,
        small_batch_bytes=2**20 if way == "whole" else 0,
        small_lane_bytes=0 if way == "executors" else 2**20,
        fast=fast,
        jvm=False,
    )
    sink(bench.rows(0).selectExpr("key", "value", f"'{bench.topic}' AS topic"), 0)
    without = f"IF(key = '7', NULL, '{bench.topic}') AS topic"
    some = bench.rows(1).selectExpr("key", "value", without)
    with pytest.raises(RefusedError, match=r"batch 1.*a row has no topic"):
        sink(some, 1)
    assert bench.visible() == expected(0)
