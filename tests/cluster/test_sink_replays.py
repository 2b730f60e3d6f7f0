"""Real streaming queries that die between lanes, and start again otherwise: exactly once."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from committed import committed
from confluent_kafka import Producer
from pyspark.sql import DataFrame, SparkSession

from onceproof.cluster import topics
from onceproof.cluster.local import LocalCluster
from onceproof.sink import ExactlyOnceKafka, exactly_once_kafka
from onceproof.sink.driver_lanes import DriverLanes
from onceproof.sink.errors import LaneError
from onceproof.sink.jvm.lanes import JvmLanes
from onceproof.sink.lane import OpenLane, open_lane
from onceproof.sink.ledger.entries import Decision, Manifest, lane_partition
from onceproof.sink.ledger.reader import last_entry
from onceproof.sink.operator import rule
from onceproof.sink.producing.transaction import Record
from onceproof.sink.reports import LaneReport, LaneState
from onceproof.sink.settings import Settings
from onceproof.sink.work import Work

RECORDS = 60
KEYS = 17
ABORTED = 300  # with their markers 600: more than the reader looks back at first, and then


class Pipeline:
    """A topic copied to another by a query that can be started again and again."""

    def __init__(
        self, cluster: LocalCluster, spark: SparkSession, folder: Path, name: str, partitions: int
    ) -> None:
        self.bootstrap = cluster.bootstrap("suspects")
        self.source, self.output, self.sink_id = f"in-{name}", f"out-{name}", f"sink-{name}"
        self._spark = spark
        self._checkpoint = folder / "checkpoint"
        topics.create_topic(cluster.client(), self.source, partitions=partitions)
        topics.create_topic(cluster.client(), self.output, partitions=2)

    def feed(self, start: int) -> None:
        producer = Producer({"bootstrap.servers": self.bootstrap, "partitioner": "murmur2"})
        for number in range(start, start + RECORDS):
            producer.produce(self.source, key=f"k{number % KEYS}", value=str(number))
        producer.flush()

    def sink(self, lanes: int, **changes: Any) -> ExactlyOnceKafka:
        """By lanes that Python writes, though batches are small, unless said otherwise."""
        changes = {"small_batch_bytes": 0, "jvm": False, **changes}
        return exactly_once_kafka(
            sink_id=self.sink_id,
            topic=self.output,
            lanes=lanes,
            options={"kafka.bootstrap.servers": self.bootstrap},
            **changes,
        )

    def run(
        self,
        sink: ExactlyOnceKafka,
        transform: Callable[[DataFrame], DataFrame],
        output_mode: str = "append",
        **source_options: Any,
    ) -> str | None:
        """Until everything there is has been written; what it died of, if it did."""
        source = (
            self._spark.readStream.format("kafka")
            .option("kafka.bootstrap.servers", self.bootstrap)
            .option("subscribe", self.source)
            .option("startingOffsets", "earliest")
            .options(**source_options)
            .load()
        )
        query = (
            transform(source.select("key", "value"))
            .writeStream.foreachBatch(sink)
            .outputMode(output_mode)
            .option("checkpointLocation", str(self._checkpoint))
            .trigger(availableNow=True)
            .start()
        )
        try:
            query.awaitTermination(120)
        except Exception as error:  # noqa: BLE001  (whatever the query died of)
            return str(error)
        return None

    def visible(self, cluster: LocalCluster, *, in_order_of_key: bool = True) -> list[int]:
        seen = [(each.key(), int(each.value())) for each in committed(cluster, self.output)]
        for key in {key for key, _ in seen if in_order_of_key}:
            in_order = [value for each, value in seen if each == key]
            assert in_order == sorted(in_order), key
        return sorted(value for _, value in seen)


class Death(Exception):
    pass


def die_after_the_first_lane(monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver dies when one lane with rows is committed and the others are not."""
    real = DriverLanes.complete

    def complete(
        lanes: DriverLanes, reports: list[LaneReport], lane_of: dict[int, int], work: Work
    ) -> list[LaneReport]:
        first = max(reports, key=lambda report: report.rows)
        real(lanes, [first], lane_of, work)
        raise Death("the driver died between two lanes")

    monkeypatch.setattr(DriverLanes, "complete", complete)


def die_when_the_jvm_has_written_some(monkeypatch: pytest.MonkeyPatch) -> None:
    """Likewise, in a batch whose lanes Spark's JVM writes: on every second one somebody else was at
    work since the driver looked, so the task does not commit it.
    """
    find_ends, write = JvmLanes.find_ends, JvmLanes.write

    def disturbed(lanes: JvmLanes, taken: Any, work: Work) -> None:
        find_ends(lanes, taken, work)
        for lane in range(0, taken.manifest.lanes, 2):
            leave_unfinished(taken.settings, lane)

    def die(lanes: JvmLanes, *given: Any) -> list[LaneReport]:
        states = {report.state for report in write(lanes, *given)}
        assert states == {LaneState.COMMITTED, LaneState.FAILED}
        raise Death("the driver died between two lanes")

    monkeypatch.setattr(JvmLanes, "find_ends", disturbed)
    monkeypatch.setattr(JvmLanes, "write", die)


def leave_unfinished(settings: Settings, lane: int) -> None:
    """A transaction with an entry in the lane's part of the ledger, which the next fence aborts."""
    opened = open_lane(settings, lane)
    opened.transaction.begin()
    place = lane_partition(lane)
    opened.transaction.produce_record(
        Record(topic=settings.ledger_topic, partition=place, key=b"nobody's", value=b"nothing")
    )
    opened.transaction.flush()
    opened.transaction.close()


def die_before_any_lane(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], object]]:
    """The driver dies, or goes away, with all rows at hand. What it would have done next: of each
    batch, to be called when it is back.
    """
    real, left = DriverLanes.complete, []

    def complete(
        lanes: DriverLanes, reports: list[LaneReport], lane_of: dict[int, int], work: Work
    ) -> list[LaneReport]:
        left.append(lambda: real(lanes, reports, lane_of, work))
        raise Death("the driver died before any lane")

    monkeypatch.setattr(DriverLanes, "complete", complete)
    return left


def as_it_is(rows: DataFrame) -> DataFrame:
    return rows


def shuffled(rows: DataFrame) -> DataFrame:
    return rows.repartition("key")  # AQE may coalesce this as it likes


@pytest.mark.parametrize(
    ("transform", "cut", "partitions"),
    [
        pytest.param(as_it_is, "partitions", 3, marks=pytest.mark.jury),
        pytest.param(as_it_is, "partitions", 2, marks=pytest.mark.jury),
        pytest.param(as_it_is, "partitions", 4, marks=pytest.mark.jury),
        (shuffled, "keys", 3),
        pytest.param(shuffled, "keys", 2, marks=pytest.mark.jury),
        pytest.param(shuffled, "keys", 4, marks=pytest.mark.jury),
    ],
)
@pytest.mark.parametrize("jvm", [False, True], ids=["python", "jvm"])
def test_a_batch_begun_with_8_lanes_is_taken_up_with_3_and_finished_with_8(  # noqa: PLR0917
    cluster: LocalCluster,
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    partitions: int,
    transform: Callable[[DataFrame], DataFrame],
    cut: str,
    jvm: bool,
) -> None:
    assert spark.conf.get("spark.sql.adaptive.enabled") == "true"
    line = Pipeline(cluster, spark, tmp_path, f"{cut}-{partitions}-{jvm}", partitions)
    line.feed(0)
    assert line.run(line.sink(8, jvm=jvm), transform) is None
    line.feed(RECORDS)
    committed = [RECORDS]
    # A replay is Python's, whoever began.
    for lanes, die in (
        (8, die_when_the_jvm_has_written_some if jvm else die_after_the_first_lane),
        (3, die_after_the_first_lane),
    ):
        with monkeypatch.context() as death:
            die(death)
            assert "between two lanes" in str(line.run(line.sink(lanes, jvm=jvm), transform))
        committed.append(len(line.visible(cluster)))
    assert RECORDS < committed[1] < committed[2] <= 2 * RECORDS
    finisher = line.sink(8, jvm=jvm)
    manifest = last_entry(finisher._announcer.settings, 0)
    assert isinstance(manifest, Manifest)
    assert (manifest.cut, manifest.lanes) == (cut, partitions if cut == "partitions" else 8)
    assert line.run(finisher, transform) is None
    assert line.visible(cluster) == list(range(2 * RECORDS))


@pytest.mark.parametrize("jvm", [False, True], ids=["python", "jvm"])
def test_in_complete_mode_each_batch_tells_all_keys_once(
    cluster: LocalCluster,
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    jvm: bool,
) -> None:
    line = Pipeline(cluster, spark, tmp_path, f"complete-{jvm}", partitions=2)
    line.feed(0)
    assert line.run(line.sink(8, jvm=jvm), counted, "complete") is None
    line.feed(RECORDS)
    with monkeypatch.context() as death:
        (die_when_the_jvm_has_written_some if jvm else die_after_the_first_lane)(death)
        assert "between two lanes" in str(line.run(line.sink(8, jvm=jvm), counted, "complete"))
    assert line.run(line.sink(8, jvm=jvm), counted, "complete") is None
    counts = [Counter(number % KEYS for number in range(total)) for total in (RECORDS, 2 * RECORDS)]
    assert line.visible(cluster) == sorted(n for count in counts for n in count.values())


def counted(rows: DataFrame) -> DataFrame:
    return rows.groupBy("key").count().selectExpr("key", "CAST(count AS STRING) AS value")


def test_a_zombie_on_a_lane_that_is_not_used_any_more_cannot_commit(
    cluster: LocalCluster, spark: SparkSession, tmp_path: Path
) -> None:
    line = Pipeline(cluster, spark, tmp_path, "zombie", partitions=2)
    line.feed(0)
    assert line.run(line.sink(8), shuffled) is None
    zombie = lane_with_open_transaction(line, lane=7)
    line.feed(RECORDS)
    assert line.run(line.sink(3), shuffled) is None
    with pytest.raises(LaneError):
        zombie.transaction.commit()
    zombie.transaction.close()
    assert line.visible(cluster) == list(range(2 * RECORDS))


def lane_with_open_transaction(line: Pipeline, lane: int) -> OpenLane:
    settings = line.sink(8)._announcer.settings
    opened = open_lane(settings, lane)
    opened.transaction.begin()
    opened.transaction.produce_record(Record(topic=line.output, key=b"k", value=b"-1"))
    return opened


@pytest.mark.parametrize("small_lane_bytes", [0, 64 * 1024], ids=["executors", "driver"])
def test_state_that_is_kept_by_key_needs_no_second_shuffle(
    cluster: LocalCluster, spark: SparkSession, tmp_path: Path, small_lane_bytes: int
) -> None:
    line = Pipeline(cluster, spark, tmp_path, f"dedup-{small_lane_bytes}", partitions=3)
    line.feed(0)
    line.feed(0)
    sink = line.sink(8, small_lane_bytes=small_lane_bytes)
    assert line.run(sink, lambda rows: rows.dropDuplicates(["key", "value"])) is None
    assert sink.last_batch is not None
    assert sink.last_batch.cut == "partitions"
    # Spark itself shuffles by key and value here, so a key's order is not kept before the sink.
    assert line.visible(cluster, in_order_of_key=False) == list(range(RECORDS))


@pytest.mark.parametrize(("transform", "cut"), [(as_it_is, "partitions"), (shuffled, "keys")])
def test_a_driver_that_comes_back_to_its_lanes_after_its_successor_writes_nothing(  # noqa: PLR0917
    cluster: LocalCluster,
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    transform: Callable[[DataFrame], DataFrame],
    cut: str,
) -> None:
    line = Pipeline(cluster, spark, tmp_path, f"back-{cut}", partitions=3)
    line.feed(0)
    with monkeypatch.context() as death:
        left = die_before_any_lane(death)
        assert "before any lane" in str(line.run(line.sink(8), transform))
    with monkeypatch.context() as death:
        die_after_the_first_lane(death)
        assert "between two lanes" in str(line.run(line.sink(8), transform))
    between = line.visible(cluster)
    with pytest.raises(LaneError, match="another driver leads this sink now"):
        left[0]()
    assert line.visible(cluster) == between
    assert line.run(line.sink(8), transform) is None
    with pytest.raises(LaneError, match="another driver leads this sink now"):
        left[0]()
    assert line.visible(cluster) == list(range(RECORDS))


def test_other_partitions_stop_a_replay_before_anything_is_written_and_the_old_ones_finish_it(
    cluster: LocalCluster, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = Pipeline(cluster, spark, tmp_path, "split", partitions=2)
    line.feed(0)
    with monkeypatch.context() as death:
        die_before_any_lane(death)
        line.run(line.sink(8), as_it_is)
    told = str(line.run(line.sink(8, small_lane_bytes=0), as_it_is, minPartitions=6))
    assert "it was begun with a lane for each of in-split-0@0.." in told
    assert line.visible(cluster) == []
    assert line.run(line.sink(8, small_lane_bytes=0), as_it_is) is None
    assert line.visible(cluster) == list(range(RECORDS))


def test_by_partitions_accept_leaves_a_committed_lane_as_it_is_and_writes_each_other_one_once(
    cluster: LocalCluster, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = Pipeline(cluster, spark, tmp_path, "accept", partitions=4)
    line.feed(0)
    with monkeypatch.context() as death:
        die_after_the_first_lane(death)
        line.run(line.sink(8), as_it_is)
    before = line.visible(cluster)

    def a_thousand_more(rows: DataFrame) -> DataFrame:
        return rows.selectExpr("key", "CAST(CAST(value AS STRING) + 1000 AS INT) AS n").selectExpr(
            "key", "CAST(n AS STRING) AS value"
        )

    told = str(line.run(line.sink(8), a_thousand_more))
    assert "the replayed rows are not those that were committed" in told
    assert line.visible(cluster) == before
    settings = line.sink(8)._announcer.settings
    rule(settings, batch=0, decision=Decision.ACCEPT, reason="seen and judged")
    with monkeypatch.context() as death:
        # Of the ruling, too, something is left where a driver dies over it.
        die_before_any_lane(death)
        line.run(line.sink(8), a_thousand_more)
    assert line.run(line.sink(8), a_thousand_more) is None
    others = {number + 1000 for number in range(RECORDS)} - {number + 1000 for number in before}
    assert line.visible(cluster) == sorted([*before, *others])


def test_an_entry_is_found_behind_any_number_of_aborted_ones(
    cluster: LocalCluster, spark: SparkSession, tmp_path: Path
) -> None:
    line = Pipeline(cluster, spark, tmp_path, "aborted", partitions=2)
    line.feed(0)
    assert line.run(line.sink(2), as_it_is) is None
    settings = line.sink(2)._announcer.settings
    found = last_entry(settings, lane_partition(0))
    assert found is not None
    stranger = Producer({"bootstrap.servers": line.bootstrap, "transactional.id": "stranger"})
    stranger.init_transactions()
    for _ in range(ABORTED):
        stranger.begin_transaction()
        stranger.produce(settings.ledger_topic, b"never", partition=lane_partition(0))
        stranger.flush()
        stranger.abort_transaction()
    assert last_entry(settings, lane_partition(0)) == found
