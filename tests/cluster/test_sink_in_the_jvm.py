"""Lanes that Spark's JVM writes: what arrives, and what keeps one of them from being committed."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from committed import committed
from pyspark.sql import DataFrame, SparkSession

from onceproof.cluster import topics
from onceproof.cluster.local import LocalCluster
from onceproof.deadline import pause
from onceproof.sink import ExactlyOnceKafka, RefusedError, exactly_once_kafka, laned, leader
from onceproof.sink.jvm.lanes import JvmLanes
from onceproof.sink.lane import open_lane
from onceproof.sink.ledger.entries import Cut, Token, lane_key, lane_partition
from onceproof.sink.ledger.reader import last_entry
from onceproof.sink.producing.transaction import Record
from onceproof.sink.reports import LaneReport, LaneState

QUERY = "q-1"
LANES = 3
ROWS = 400
PARTITIONS = 3
FENCED_AHEAD_S = 1.0  # by then it is, on a slow machine, too


class Bench:
    """One output topic and its sink, called as foreachBatch would call it."""

    def __init__(self, cluster: LocalCluster, spark: SparkSession, name: str) -> None:
        self.cluster = cluster
        self.spark = spark
        self.topic = f"out-{name}"
        topics.create_topic(cluster.client(), self.topic, partitions=PARTITIONS)

    def sink(self, *, lanes: int = LANES, **changes: Any) -> ExactlyOnceKafka:
        options = {"kafka.bootstrap.servers": self.cluster.bootstrap("suspects")}
        options |= changes.pop("options", {})
        given = {"topic": self.topic, "small_batch_bytes": 0, "jvm": True, **changes}
        return exactly_once_kafka(
            sink_id=f"sink-{self.topic}", lanes=lanes, options=options, **given
        )

    def rows(self, batch: int) -> DataFrame:
        return self.spark.range(ROWS).selectExpr(
            "CAST(id AS STRING) AS key", f"concat('{batch}-', id) AS value"
        )

    def visible(self) -> list[str]:
        return sorted(each.value().decode() for each in committed(self.cluster, self.topic))

    def tokens(self, sink: ExactlyOnceKafka) -> list[Token]:
        settings = sink._announcer.settings
        found = [last_entry(settings, lane_partition(lane)) for lane in range(LANES)]
        return [entry for entry in found if isinstance(entry, Token)]


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


@pytest.fixture
def in_the_jvm(monkeypatch: pytest.MonkeyPatch) -> list[list[LaneReport]]:
    """The reports of each pass that the JVM has made."""
    seen: list[list[LaneReport]] = []
    real = JvmLanes.write

    def write(lanes: JvmLanes, *given: Any) -> list[LaneReport]:
        seen.append(real(lanes, *given))
        return seen[-1]

    monkeypatch.setattr(JvmLanes, "write", write)
    return seen


Passes = list[list[LaneReport]]


def expected(*batches: int) -> list[str]:
    return sorted(f"{batch}-{row}" for batch in batches for row in range(ROWS))


def states(passes: Passes) -> list[set[str]]:
    return [{report.state for report in reports} for reports in passes]


def test_batches_come_out_once_and_each_way_takes_up_what_the_other_left(
    bench: Bench, in_the_jvm: Passes
) -> None:
    first = bench.sink()
    for batch in range(3):
        first(bench.rows(batch), batch)
    assert states(in_the_jvm) == [{LaneState.COMMITTED}] * 3
    bench.sink()(bench.rows(2), 2)  # a replay: by Python, which finds and compares the tokens
    bench.sink(jvm=False)(bench.rows(3), 3)
    bench.sink()(bench.rows(4), 4)
    assert len(in_the_jvm) == 4
    assert bench.visible() == expected(0, 1, 2, 3, 4)


def test_both_ways_leave_the_same_tokens(bench: Bench, in_the_jvm: Passes) -> None:
    by_jvm = bench.sink()
    by_jvm(bench.rows(0), 0)
    told = bench.tokens(by_jvm)
    by_python = bench.sink(ledger_topic="of-python", adopt=True, jvm=False)
    by_python(bench.rows(0), 0)
    assert len(in_the_jvm) == 1
    assert told == bench.tokens(by_python)
    assert [token.rows for token in told] != [0] * LANES


def test_whatever_rows_hold_arrives_byte_for_byte_where_it_should(
    bench: Bench, in_the_jvm: Passes
) -> None:
    rng = random.Random(7)

    def content() -> bytes | None:
        return rng.choice([None, b"", rng.randbytes(rng.randint(1, 300))])

    def headers() -> list[tuple[str, bytes | None]] | None:
        return rng.choice([None, [], [("a", content()), ("ü", b""), ("a", None)]])

    rows = [
        (bench.topic, rng.choice([None, 0, 1, 2]), f"{n}".encode(), content(), headers())
        for n in range(300)
    ]
    kinds = (
        "topic string, partition int, key binary, value binary,"
        " headers array<struct<key:string,value:binary>>"
    )
    bench.sink(topic=None)(bench.spark.createDataFrame(rows, kinds), 0)
    assert states(in_the_jvm) == [{LaneState.COMMITTED}]
    seen = committed(bench.cluster, bench.topic)
    arrived = sorted(
        ((each.key(), each.value(), tuple(each.headers() or ())) for each in seen), key=str
    )
    assert arrived == sorted(
        ((key, value, tuple(h or ())) for _, _, key, value, h in rows), key=str
    )
    asked = {key: partition for _, partition, key, _, _ in rows if partition is not None}
    for each in seen:
        assert each.partition() == asked.get(each.key(), each.partition())


def test_keys_go_where_python_puts_them(bench: Bench, in_the_jvm: Passes) -> None:
    bench.sink()(bench.rows(0), 0)
    bench.sink(jvm=False)(bench.rows(1), 1)
    assert len(in_the_jvm) == 1
    places: dict[bytes, set[int]] = {}
    for each in committed(bench.cluster, bench.topic):
        places.setdefault(each.key(), set()).add(each.partition())
    assert {len(found) for found in places.values()} == {1}


def test_an_empty_batch_leaves_a_token_on_every_lane(bench: Bench, in_the_jvm: Passes) -> None:
    sink = bench.sink()
    sink(bench.rows(0).where("false"), 0)
    assert states(in_the_jvm) == [{LaneState.COMMITTED}]
    assert [(token.batch, token.rows) for token in bench.tokens(sink)] == [(0, 0)] * LANES


def meanwhile(
    monkeypatch: pytest.MonkeyPatch, happen: Callable[[JvmLanes, Any], None], times: int = 1
) -> None:
    """After the driver has looked where the ledger ends, and before the lanes are written."""
    real, left = JvmLanes.find_ends, [times]

    def find_ends(lanes: JvmLanes, taken: Any, work: Any) -> None:
        real(lanes, taken, work)
        if left[0]:
            left[0] -= 1
            happen(lanes, taken)

    monkeypatch.setattr(JvmLanes, "find_ends", find_ends)


def test_a_token_that_came_in_between_is_seen_and_the_lane_not_written_again(
    bench: Bench, in_the_jvm: Passes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where an attempt of the very task has committed, and its report was lost."""
    sink = bench.sink()
    sink(bench.rows(0), 0)
    reports: list[LaneReport] = []

    def twin(lanes: JvmLanes, _taken: Any) -> None:
        ends = dict(lanes._ends)
        sink._announcer.confirm()  # as a task waits for the manifest
        taken, rows, work, lane_of = staged[0]
        reports.extend(JvmLanes.write(lanes, rows, taken, work, lane_of))
        lanes._ends = ends

    staged: list[Any] = []
    stage_the_pass(monkeypatch, staged)
    meanwhile(monkeypatch, twin)
    sink(bench.rows(1), 1)
    assert {report.state for report in reports} == {LaneState.COMMITTED}
    assert states(in_the_jvm)[-1] == {LaneState.FAILED}
    assert all("somebody else has written there" in report.detail for report in in_the_jvm[-1])
    assert {report.state for report in sink.last_reports} == {LaneState.ALREADY}
    assert bench.visible() == expected(0, 1)


def stage_the_pass(monkeypatch: pytest.MonkeyPatch, staged: list[Any]) -> None:
    """What the pass will be made of, before it is made."""
    real = laned.LanedBatches._pass_in_the_jvm

    def staging(batches: Any, batch: DataFrame, taken: Any, lane_of: dict[int, int]) -> Any:
        manifest = taken.manifest
        rows = laned.cut_batch(batch, Cut(manifest.cut), manifest.lanes, taken.settings.topic)
        staged.append((taken, rows, laned._work(taken), lane_of))
        return real(batches, batch, taken, lane_of)

    monkeypatch.setattr(laned.LanedBatches, "_pass_in_the_jvm", staging)


def test_a_task_of_a_driver_that_was_overtaken_commits_nothing(
    bench: Bench, in_the_jvm: Passes, monkeypatch: pytest.MonkeyPatch
) -> None:
    overtaken = bench.sink()
    overtaken(bench.rows(0), 0)
    successor = bench.sink()._announcer

    def overtake(_lanes: JvmLanes, _taken: Any) -> None:
        overtaken._announcer.confirm()
        lead = successor.lead(QUERY, 1)
        lead.transaction.close()
        successor.take_up_again(successor._lead())

    meanwhile(monkeypatch, overtake)
    overtaken(bench.rows(1), 1)  # taken up again in the end, and written once
    assert states(in_the_jvm)[1] == {LaneState.FAILED}
    assert "another driver leads" in in_the_jvm[1][0].detail
    assert bench.visible() == expected(0, 1)


def test_a_lane_that_was_fenced_is_not_committed_and_the_batch_is_taken_up_again(
    bench: Bench, in_the_jvm: Passes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fenced ahead, or just now: whoever comes after that is in the way, and is seen."""
    sink = bench.sink()
    sink(bench.rows(0), 0)
    strangers = []

    def begin(_lanes: JvmLanes, taken: Any) -> None:
        opened = open_lane(taken.settings, 1)
        opened.transaction.begin()
        token = bench.tokens(sink)[1].to_bytes()
        opened.transaction.produce_record(
            Record(
                topic=taken.settings.ledger_topic,
                partition=lane_partition(1),
                key=lane_key(1),
                value=token,
            )
        )
        opened.transaction.flush()
        strangers.append(opened)

    meanwhile(monkeypatch, begin)
    sink(bench.rows(1), 1)
    assert states(in_the_jvm)[1] == {LaneState.COMMITTED, LaneState.FAILED}
    assert bench.visible() == expected(0, 1)
    strangers[0].transaction.close()


def test_a_driver_that_was_away_goes_on_though_its_lanes_were_written_by_another(
    bench: Bench, in_the_jvm: Passes
) -> None:
    """What it knew of the ledger, and fenced ahead, is of no use; nothing is lost of it."""
    away = bench.sink()
    away(bench.rows(0), 0)
    bench.sink(jvm=False)(bench.rows(1), 1)
    away(bench.rows(2), 2)
    away(bench.rows(3), 3)
    assert states(in_the_jvm) == [
        {LaneState.COMMITTED},
        {LaneState.FAILED},
        {LaneState.COMMITTED},
    ]
    assert bench.visible() == expected(0, 1, 2, 3)


def test_a_query_stopped_and_started_in_one_spark_does_not_use_what_was_fenced_for_it_before(
    bench: Bench, in_the_jvm: Passes
) -> None:
    stopped, started = bench.sink(), bench.sink()
    stopped(bench.rows(0), 0)
    pause(FENCED_AHEAD_S)
    stopped(bench.rows(1), 1)
    pause(FENCED_AHEAD_S)
    started(bench.rows(2), 2)
    assert states(in_the_jvm) == [{LaneState.COMMITTED}] * 3
    assert fenced_now(in_the_jvm) == [True, False, True]
    assert bench.visible() == expected(0, 1, 2)


def fenced_now(passes: Passes) -> list[bool]:
    """Not ahead: a producer that is made takes far longer than one that is at hand."""
    return [min(report.fence_ms for report in reports) > 2 for reports in passes]


def test_a_lane_that_came_from_elsewhere_is_not_written_with_what_was_fenced_here_before(
    bench: Bench, in_the_jvm: Passes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where another executor has written it meanwhile, and fenced us."""
    sink = bench.sink()
    sink(bench.rows(0), 0)
    pause(FENCED_AHEAD_S)
    sink(bench.rows(1), 1)
    pause(FENCED_AHEAD_S)

    def elsewhere(lanes: JvmLanes, taken: Any) -> None:
        for lane in range(LANES):
            opened = open_lane(taken.settings, lane)
            opened.transaction.begin()
            opened.transaction.produce_record(
                Record(
                    topic=taken.settings.ledger_topic,
                    partition=lane_partition(lane),
                    key=lane_key(lane),
                    value=bench.tokens(sink)[lane].to_bytes(),
                )
            )
            opened.transaction.commit()
            opened.transaction.close()
            lanes._ends[lane] += 2

    meanwhile(monkeypatch, elsewhere)
    sink(bench.rows(2), 2)
    assert states(in_the_jvm) == [{LaneState.COMMITTED}] * 3
    assert fenced_now(in_the_jvm) == [True, False, True]
    assert bench.visible() == expected(0, 1, 2)


def test_producers_and_their_threads_do_not_pile_up(bench: Bench, in_the_jvm: Passes) -> None:
    sink = bench.sink()
    for batch in range(12):
        sink(bench.rows(batch), batch)
    assert states(in_the_jvm) == [{LaneState.COMMITTED}] * 12
    pause(FENCED_AHEAD_S)
    threads = bench.spark.sparkContext._gateway.jvm.java.lang.Thread.getAllStackTraces().keySet()
    ours = [str(each.getName()) for each in threads if bench.topic in str(each.getName())]
    assert len([name for name in ours if "kafka-producer" in name]) == LANES  # fenced ahead


def test_what_the_jvm_fails_at_again_and_again_is_left_to_python(
    bench: Bench, in_the_jvm: Passes, caplog: pytest.LogCaptureFixture
) -> None:
    sink = bench.sink(options={"kafka.compression.type": "zstd", "kafka.max.block.ms": "0"})
    for batch in range(5):
        sink(bench.rows(batch), batch)
    assert states(in_the_jvm) == [{LaneState.FAILED}] * 3
    assert "3 batches in a row could not be written by Spark's JVM" in caplog.text
    assert bench.visible() == expected(0, 1, 2, 3, 4)


def test_rows_that_the_brokers_refuse_stop_the_sink_with_the_way_out(
    bench: Bench, in_the_jvm: Passes
) -> None:
    large = bench.rows(0).selectExpr("key", "repeat('x', 2000000) AS value").limit(1)
    with pytest.raises(RefusedError, match=r"batch 0, lane \d: .*kafka.max.request.size"):
        bench.sink()(large, 0)
    assert LaneState.FAILED in states(in_the_jvm)[0]
    assert bench.visible() == []


def test_a_row_without_a_topic_is_refused_and_leaves_nothing(
    bench: Bench, in_the_jvm: Passes
) -> None:
    some = bench.rows(0).selectExpr(
        "key", "value", f"IF(key = '7', NULL, '{bench.topic}') AS topic"
    )
    with pytest.raises(RefusedError, match=r"batch 0.*a row has no topic"):
        bench.sink(topic=None, lanes=1)(some, 0)
    assert states(in_the_jvm) == [{LaneState.FAILED}]
    assert bench.visible() == []


def test_a_lane_that_outlasts_its_transaction_names_both_times(
    bench: Bench,
    in_the_jvm: Passes,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    slowly = "IF(reflect('java.lang.Thread', 'sleep', 10L) IS NULL, value, value) AS value"
    cut = laned.cut_batch

    def slow_tasks(*given: Any) -> DataFrame:
        rows = cut(*given)
        return rows.selectExpr(*(slowly if name == "value" else name for name in rows.columns))

    monkeypatch.setattr(laned, "cut_batch", slow_tasks)
    sink = bench.sink(lanes=1, options={"kafka.transaction.timeout.ms": "2000"})
    sink(bench.rows(0), 0)
    assert states(in_the_jvm) == [{LaneState.OUTLASTED}]
    assert "kafka.transaction.timeout.ms is 2000 (2.0 s), so the brokers" in caplog.text
    assert bench.visible() == expected(0)  # Python has all rows before it begins


def test_what_only_librdkafka_knows_goes_through_python(
    bench: Bench, in_the_jvm: Passes, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("INFO", logger="onceproof.sink"):
        bench.sink(options={"kafka.batch.num.messages": "1000"})(bench.rows(0), 0)
    assert in_the_jvm == []
    assert "Java's client has no kafka.batch.num.messages" in caplog.text
    assert bench.visible() == expected(0)
