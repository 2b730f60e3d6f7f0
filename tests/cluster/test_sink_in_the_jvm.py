"""Lanes that Spark's JVM writes: what arrives, and what keeps one of them from being committed."""

import random
from typing import Any

import pytest
from committed import committed
from jvm_bench import (
    LANES,
    QUERY,
    Bench,
    Passes,
    expected,
    meanwhile,
    states,
    written_by_a_twin_first,
)
from pyspark.sql import DataFrame

from onceproof.cluster import topics
from onceproof.deadline import pause
from onceproof.sink import ExactlyOnceKafka, RefusedError, cut
from onceproof.sink.jvm import program
from onceproof.sink.jvm.lanes import JvmLanes
from onceproof.sink.lane import open_lane
from onceproof.sink.ledger.entries import lane_key, lane_partition
from onceproof.sink.producing.transaction import Record
from onceproof.sink.reports import LaneState

ANY = -1  # partition
FENCED_AHEAD_S = 1.0  # by then it is, on a slow machine, too


def test_batches_come_out_once_and_each_way_takes_up_what_the_other_left(
    jvm_bench: Bench, in_the_jvm: Passes
) -> None:
    first = jvm_bench.sink()
    for batch in range(3):
        first(jvm_bench.rows(batch), batch)
    assert states(in_the_jvm) == [{LaneState.COMMITTED}] * 3
    # A replay: by Python, which finds and compares the tokens.
    jvm_bench.sink()(jvm_bench.rows(2), 2)
    jvm_bench.sink(jvm=False)(jvm_bench.rows(3), 3)
    jvm_bench.sink()(jvm_bench.rows(4), 4)
    assert len(in_the_jvm) == 4
    assert jvm_bench.visible() == expected(0, 1, 2, 3, 4)


def test_both_ways_leave_the_same_tokens(jvm_bench: Bench, in_the_jvm: Passes) -> None:
    by_jvm = jvm_bench.sink()
    by_jvm(jvm_bench.rows(0), 0)
    told = jvm_bench.tokens(by_jvm)
    by_python = jvm_bench.sink(ledger_topic="of-python", adopt=True, jvm=False)
    by_python(jvm_bench.rows(0), 0)
    assert len(in_the_jvm) == 1
    assert told == jvm_bench.tokens(by_python)
    assert [token.rows for token in told] != [0] * LANES


def test_whatever_rows_hold_arrives_byte_for_byte_where_it_should(
    jvm_bench: Bench, in_the_jvm: Passes
) -> None:
    rng = random.Random(7)

    def content() -> bytes | None:
        return rng.choice([None, b"", rng.randbytes(rng.randint(1, 300))])

    def headers() -> list[tuple[str, bytes | None]] | None:
        return rng.choice([None, [], [("a", content()), ("ü", b""), ("a", None)]])

    rows = [
        (jvm_bench.topic, rng.choice([None, ANY, 0, 1, 2]), f"{n}".encode(), content(), headers())
        for n in range(300)
    ]
    kinds = (
        "topic string, partition int, key binary, value binary,"
        " headers array<struct<key:string,value:binary>>"
    )
    jvm_bench.sink(topic=None)(jvm_bench.spark.createDataFrame(rows, kinds), 0)
    assert states(in_the_jvm) == [{LaneState.COMMITTED}]
    seen = committed(jvm_bench.cluster, jvm_bench.topic)
    arrived = sorted(
        ((each.key(), each.value(), tuple(each.headers() or ())) for each in seen), key=str
    )
    assert arrived == sorted(
        ((key, value, tuple(h or ())) for _, _, key, value, h in rows), key=str
    )
    asked = {key: partition for _, partition, key, _, _ in rows if partition not in (None, ANY)}
    for each in seen:
        assert each.partition() == asked.get(each.key(), each.partition())


def test_a_headers_name_that_is_no_text_is_left_to_python_which_refuses_it(
    jvm_bench: Bench, in_the_jvm: Passes
) -> None:
    """Java would write other bytes than were compared."""
    odd = "array(named_struct('key', CAST(X'FF' AS STRING), 'value', X'00')) AS headers"
    sink = jvm_bench.sink(lanes=1)
    with pytest.raises(Exception, match="utf-8"):
        sink(jvm_bench.rows(0).selectExpr("key", "value", odd), 0)
    assert states(in_the_jvm) == [{LaneState.FAILED}]
    assert "is not UTF-8" in in_the_jvm[0][0].detail
    assert jvm_bench.visible() == []


def test_keys_go_where_python_puts_them(jvm_bench: Bench, in_the_jvm: Passes) -> None:
    jvm_bench.sink()(jvm_bench.rows(0), 0)
    jvm_bench.sink(jvm=False)(jvm_bench.rows(1), 1)
    assert len(in_the_jvm) == 1
    places: dict[bytes, set[int]] = {}
    for each in committed(jvm_bench.cluster, jvm_bench.topic):
        places.setdefault(each.key(), set()).add(each.partition())
    assert {len(found) for found in places.values()} == {1}


def test_an_empty_batch_leaves_a_token_on_every_lane(jvm_bench: Bench, in_the_jvm: Passes) -> None:
    sink = jvm_bench.sink()
    sink(jvm_bench.rows(0).where("false"), 0)
    assert states(in_the_jvm) == [{LaneState.COMMITTED}]
    assert [(token.batch, token.rows) for token in jvm_bench.tokens(sink)] == [(0, 0)] * LANES


def test_a_token_that_came_in_between_is_seen_and_the_lane_not_written_again(
    jvm_bench: Bench, in_the_jvm: Passes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where an attempt of the very task has committed, and its report was lost."""
    sink = jvm_bench.sink()
    sink(jvm_bench.rows(0), 0)
    assert {report.state for report in written_by_a_twin_first(sink, jvm_bench, monkeypatch)} == {
        LaneState.COMMITTED
    }
    assert states(in_the_jvm)[-1] == {LaneState.FAILED}
    assert all("somebody else has written there" in report.detail for report in in_the_jvm[-1])
    assert {report.state for report in sink.last_reports} == {LaneState.ALREADY}
    assert jvm_bench.visible() == expected(0, 1)


def test_a_task_of_a_driver_that_was_overtaken_commits_nothing(
    jvm_bench: Bench, in_the_jvm: Passes, monkeypatch: pytest.MonkeyPatch
) -> None:
    overtaken = jvm_bench.sink()
    overtaken(jvm_bench.rows(0), 0)
    successor = jvm_bench.sink()._announcer

    def overtake(_lanes: JvmLanes, _taken: Any) -> None:
        overtaken._announcer.confirm()
        lead = successor.lead(QUERY, 1)
        lead.transaction.close()
        successor.take_up_again(successor._lead())

    meanwhile(monkeypatch, overtake)
    overtaken(jvm_bench.rows(1), 1)  # taken up again in the end, and written once
    assert states(in_the_jvm)[1] == {LaneState.FAILED}
    assert "another driver leads" in in_the_jvm[1][0].detail
    assert jvm_bench.visible() == expected(0, 1)


def test_a_lane_that_was_fenced_is_not_committed_and_the_batch_is_taken_up_again(
    jvm_bench: Bench, in_the_jvm: Passes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fenced ahead, or just now: whoever comes after that is in the way, and is seen."""
    sink = jvm_bench.sink()
    sink(jvm_bench.rows(0), 0)
    strangers = []

    def begin(_lanes: JvmLanes, taken: Any) -> None:
        opened = open_lane(taken.settings, 1)
        opened.transaction.begin()
        token = jvm_bench.tokens(sink)[1].to_bytes()
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
    sink(jvm_bench.rows(1), 1)
    assert states(in_the_jvm)[1] == {LaneState.COMMITTED, LaneState.FAILED}
    assert jvm_bench.visible() == expected(0, 1)
    strangers[0].transaction.close()


def test_a_driver_that_was_away_goes_on_though_its_lanes_were_written_by_another(
    jvm_bench: Bench, in_the_jvm: Passes
) -> None:
    """What it knew of the ledger, and fenced ahead, is of no use; nothing is lost of it."""
    away = jvm_bench.sink()
    away(jvm_bench.rows(0), 0)
    jvm_bench.sink(jvm=False)(jvm_bench.rows(1), 1)
    away(jvm_bench.rows(2), 2)
    away(jvm_bench.rows(3), 3)
    assert states(in_the_jvm) == [
        {LaneState.COMMITTED},
        {LaneState.FAILED},
        {LaneState.COMMITTED},
    ]
    assert jvm_bench.visible() == expected(0, 1, 2, 3)


def test_a_query_stopped_and_started_in_one_spark_does_not_use_what_was_fenced_for_it_before(
    jvm_bench: Bench, in_the_jvm: Passes
) -> None:
    stopped, started = jvm_bench.sink(), jvm_bench.sink()
    written_with_a_lane_fenced_ahead(stopped, jvm_bench)
    started(jvm_bench.rows(3), 3)
    assert states(in_the_jvm) == [{LaneState.COMMITTED}] * 4
    assert fenced_now(in_the_jvm) == [True, True, False, True]
    assert jvm_bench.visible() == expected(0, 1, 2, 3)


def written_with_a_lane_fenced_ahead(sink: ExactlyOnceKafka, jvm_bench: Bench) -> None:
    """Three batches; what was written here twice running is fenced ahead, and is again."""
    for batch in range(3):
        sink(jvm_bench.rows(batch), batch)
        pause(FENCED_AHEAD_S)


def fenced_now(passes: Passes) -> list[bool]:
    """Not ahead: a producer that is made takes far longer than one that is at hand."""
    return [min(report.fence_ms for report in reports) > 2 for reports in passes]


def test_a_lane_that_came_from_elsewhere_is_not_written_with_what_was_fenced_here_before(
    jvm_bench: Bench, in_the_jvm: Passes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where another executor has written it meanwhile, and fenced us."""
    sink = jvm_bench.sink()
    written_with_a_lane_fenced_ahead(sink, jvm_bench)

    def elsewhere(lanes: JvmLanes, taken: Any) -> None:
        for lane in range(LANES):
            opened = open_lane(taken.settings, lane)
            opened.transaction.begin()
            opened.transaction.produce_record(
                Record(
                    topic=taken.settings.ledger_topic,
                    partition=lane_partition(lane),
                    key=lane_key(lane),
                    value=jvm_bench.tokens(sink)[lane].to_bytes(),
                )
            )
            opened.transaction.commit()
            opened.transaction.close()
            lanes._ends[lane] += 2

    meanwhile(monkeypatch, elsewhere)
    sink(jvm_bench.rows(3), 3)
    assert states(in_the_jvm) == [{LaneState.COMMITTED}] * 4
    assert fenced_now(in_the_jvm) == [True, True, False, True]
    assert jvm_bench.visible() == expected(0, 1, 2, 3)


def test_producers_and_their_threads_do_not_pile_up(jvm_bench: Bench, in_the_jvm: Passes) -> None:
    sink = jvm_bench.sink()
    for batch in range(12):
        sink(jvm_bench.rows(batch), batch)
    assert states(in_the_jvm) == [{LaneState.COMMITTED}] * 12
    pause(FENCED_AHEAD_S)
    threads = (
        jvm_bench.spark.sparkContext._gateway.jvm.java.lang.Thread.getAllStackTraces().keySet()
    )
    ours = [str(each.getName()) for each in threads if jvm_bench.topic in str(each.getName())]
    assert len([name for name in ours if "kafka-producer" in name]) == LANES  # fenced ahead


def test_what_the_jvm_fails_at_again_and_again_is_left_to_python(
    jvm_bench: Bench, in_the_jvm: Passes, caplog: pytest.LogCaptureFixture
) -> None:
    sink = jvm_bench.sink(options={"kafka.compression.type": "zstd", "kafka.max.block.ms": "0"})
    for batch in range(5):
        sink(jvm_bench.rows(batch), batch)
    assert states(in_the_jvm) == [{LaneState.FAILED}] * 3
    assert "3 batches in a row could not be written by Spark's JVM" in caplog.text
    assert jvm_bench.visible() == expected(0, 1, 2, 3, 4)


def test_rows_that_the_brokers_refuse_stop_the_sink_with_the_way_out(
    jvm_bench: Bench, in_the_jvm: Passes
) -> None:
    large = jvm_bench.rows(0).selectExpr("key", "repeat('x', 2000000) AS value").limit(1)
    with pytest.raises(RefusedError, match=r"batch 0, lane \d: .*kafka.max.request.size"):
        jvm_bench.sink()(large, 0)
    assert LaneState.FAILED in states(in_the_jvm)[0]
    assert jvm_bench.visible() == []


@pytest.mark.jury  # librdkafka waits for a missing topic for half a minute
def test_a_topic_that_is_deleted_while_the_query_runs_stops_it_by_name(
    jvm_bench: Bench, in_the_jvm: Passes
) -> None:
    sink = jvm_bench.sink(options={"kafka.max.block.ms": "3000"})
    sink(jvm_bench.rows(0), 0)
    topics.delete_topic(jvm_bench.cluster.client(), jvm_bench.topic)
    with pytest.raises(RefusedError, match=rf"batch 1.*{jvm_bench.topic}"):
        sink(jvm_bench.rows(1), 1)
    assert states(in_the_jvm) == [{LaneState.COMMITTED}, {LaneState.FAILED}]


def test_a_row_without_a_topic_is_refused_and_leaves_nothing(
    jvm_bench: Bench, in_the_jvm: Passes
) -> None:
    some = jvm_bench.rows(0).selectExpr(
        "key", "value", f"IF(key = '7', NULL, '{jvm_bench.topic}') AS topic"
    )
    with pytest.raises(RefusedError, match=r"batch 0.*a row has no topic"):
        jvm_bench.sink(topic=None, lanes=1)(some, 0)
    assert states(in_the_jvm) == [{LaneState.FAILED}]
    assert jvm_bench.visible() == []


def test_a_lane_that_outlasts_its_transaction_names_both_times(
    jvm_bench: Bench,
    in_the_jvm: Passes,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    slowly = "IF(reflect('java.lang.Thread', 'sleep', 10L) IS NULL, value, value) AS value"
    real = cut._cut

    def slow_tasks(*given: Any) -> DataFrame:
        rows = real(*given)
        return rows.selectExpr(*(slowly if name == "value" else name for name in rows.columns))

    monkeypatch.setattr(cut, "_cut", slow_tasks)
    sink = jvm_bench.sink(lanes=1, options={"kafka.transaction.timeout.ms": "2000"})
    sink(jvm_bench.rows(0), 0)
    assert states(in_the_jvm) == [{LaneState.OUTLASTED}]
    assert "kafka.transaction.timeout.ms is 2000 (2.0 s), so the brokers" in caplog.text
    assert jvm_bench.visible() == expected(0)  # Python has all rows before it begins


def test_without_its_sources_rows_go_through_python(
    jvm_bench: Bench,
    in_the_jvm: Passes,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """As where somebody packs the *.py of the sink alone."""

    def missing(source: str) -> str:
        raise FileNotFoundError(source)

    monkeypatch.setattr(program, "_text", missing)
    monkeypatch.setattr(program, "_ready", {})
    with caplog.at_level("INFO", logger="onceproof.sink"):
        jvm_bench.sink()(jvm_bench.rows(0), 0)
    assert in_the_jvm == []
    assert "rows go through Python: the sink's Java cannot be had: Talkative.java" in caplog.text
    assert jvm_bench.visible() == expected(0)


def test_what_only_librdkafka_knows_goes_through_python(
    jvm_bench: Bench, in_the_jvm: Passes, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("INFO", logger="onceproof.sink"):
        jvm_bench.sink(options={"kafka.batch.num.messages": "1000"})(jvm_bench.rows(0), 0)
    assert in_the_jvm == []
    assert "Java's client has no kafka.batch.num.messages" in caplog.text
    assert jvm_bench.visible() == expected(0)
