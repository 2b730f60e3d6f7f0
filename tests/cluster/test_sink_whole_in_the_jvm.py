"""Batches that all of Spark's tasks write whole, in one transaction, where they share one JVM."""

import random
from pathlib import Path

import pytest
from committed import committed
from jvm_bench import (
    Bench,
    expected,
    meanwhile_whole,
    plant,
    whole,
    written_by_another_driver_first,
)
from pyspark.sql import DataFrame, SparkSession
from whole_line import Pipeline, die_after_the_commit, each_key

from onceproof.cluster import topics
from onceproof.cluster.local import LocalCluster
from onceproof.deadline import pause
from onceproof.sink import ExactlyOnceKafka, OwnershipError, RefusedError, SinkError
from onceproof.sink.jvm.whole import JvmWhole
from onceproof.sink.ledger.entries import Decision, Manifest
from onceproof.sink.ledger.reader import last_entry
from onceproof.sink.operator import rule

FENCED_AHEAD_S = 1.0  # by then it is, on a slow machine, too


@pytest.fixture
def line(cluster: LocalCluster, spark: SparkSession, tmp_path: Path) -> Pipeline:
    return Pipeline(cluster, spark, tmp_path, jvm=True)


def way(sink: ExactlyOnceKafka) -> tuple[str, str, bool]:
    last = sink.last_batch
    assert last is not None
    return last.cut, last.writer, last.is_replay


def test_batches_come_out_once_and_each_way_takes_up_what_another_left(jvm_bench: Bench) -> None:
    first = whole(jvm_bench)
    for batch in range(3):
        first(jvm_bench.rows(batch), batch)
        assert way(first) == ("whole", "jvm", False)
    again = whole(jvm_bench)
    again(jvm_bench.rows(2), 2)  # measured by Python's tasks, and compared
    assert way(again) == ("whole", "python", True)
    again(jvm_bench.rows(3), 3)
    assert way(again) == ("whole", "jvm", False)
    in_lanes = jvm_bench.sink()
    in_lanes(jvm_bench.rows(4), 4)
    assert way(in_lanes) == ("keys", "jvm", False)
    by_python = whole(jvm_bench, jvm=False)
    by_python(jvm_bench.rows(5), 5)
    assert way(by_python) == ("whole", "python", False)
    last = whole(jvm_bench)
    last(jvm_bench.rows(6), 6)
    assert way(last) == ("whole", "jvm", False)
    assert jvm_bench.visible() == expected(0, 1, 2, 3, 4, 5, 6)


def test_both_ways_leave_the_same_manifest(jvm_bench: Bench) -> None:
    found = []
    for ledger, jvm in (("of-jvm", True), ("of-python", False)):
        sink = whole(jvm_bench, ledger_topic=ledger, jvm=jvm)
        sink(jvm_bench.rows(0), 0)
        manifest = last_entry(sink._announcer.settings, 0)
        assert isinstance(manifest, Manifest)
        found.append((manifest.cut, manifest.lanes, manifest.rows, manifest.digest))
    assert found[0] == found[1]
    assert found[0][:3] == ("whole", 0, 400)


def test_whatever_rows_hold_arrives_and_python_finds_the_same_digest(jvm_bench: Bench) -> None:
    rng = random.Random(11)

    def content() -> bytes | None:
        return rng.choice([None, b"", rng.randbytes(rng.randint(1, 300))])

    def headers() -> list[tuple[str, bytes | None]] | None:
        return rng.choice([None, [], [("a", content()), ("ü", b""), ("a", None)]])

    rows = [
        (jvm_bench.topic, rng.choice([None, -1, 0, 1, 2]), f"{n}".encode(), content(), headers())
        for n in range(300)
    ]
    kinds = (
        "topic string, partition int, key binary, value binary,"
        " headers array<struct<key:string,value:binary>>"
    )
    batch = jvm_bench.spark.createDataFrame(rows, kinds)
    sink = whole(jvm_bench, topic=None)
    sink(batch, 0)
    assert way(sink) == ("whole", "jvm", False)
    arrived = [
        (each.key(), each.value(), tuple(each.headers() or ()))
        for each in committed(jvm_bench.cluster, jvm_bench.topic)
    ]
    assert sorted(arrived, key=str) == sorted(
        ((key, value, tuple(h or ())) for _, _, key, value, h in rows), key=str
    )
    again = whole(jvm_bench, topic=None)
    again(batch, 0)  # would stop if a digest were another one
    assert way(again) == ("whole", "python", True)


@pytest.mark.parametrize("nothing", ["key = 'of nobody'", "false"])
def test_an_empty_batch_leaves_its_manifest(jvm_bench: Bench, nothing: str) -> None:
    sink = whole(jvm_bench)
    sink(jvm_bench.rows(0).where(nothing), 0)
    assert way(sink) == ("whole", "jvm", False)
    sink(jvm_bench.rows(1), 1)
    manifest = last_entry(sink._announcer.settings, 0)
    assert isinstance(manifest, Manifest)
    assert (manifest.batch, manifest.rows) == (1, 400)
    assert jvm_bench.visible() == expected(1)


def epochs(bench: Bench) -> set[tuple[int, int]]:
    """Producer and epoch of those that have written rows."""
    return {
        (producer.producer_id, producer.producer_epoch)
        for partition in topics._with_producers(bench.cluster.client(), bench.topic)
        for producer in partition.active_producers
    }


def producer_threads(bench: Bench) -> set[int]:
    """Of this topic's sink, in Spark's JVM: one for each producer that is open."""
    threads = bench.spark.sparkContext._gateway.jvm.java.lang.Thread.getAllStackTraces().keySet()
    return {
        int(each.getId())
        for each in threads
        if bench.topic in str(each.getName()) and "kafka-producer" in str(each.getName())
    }


def written(bench: Bench, batches: int) -> tuple[list[set[int]], set[tuple[int, int]]]:
    """The producers that are open when the next batch is fenced ahead, each time; all epochs."""
    sink, threads, seen = whole(bench), [], set()
    for batch in range(batches):
        sink(bench.rows(batch), batch)
        seen |= epochs(bench)
        pause(FENCED_AHEAD_S)
        threads.append(producer_threads(bench))
    assert bench.visible() == expected(*range(batches))
    return threads, seen


def test_the_producer_is_the_last_batchs_with_an_epoch_of_its_own(jvm_bench: Bench) -> None:
    threads, seen = written(jvm_bench, 5)
    assert len(threads[0]) == 1
    assert threads == [threads[0]] * 5
    assert len(seen) == 5


@pytest.mark.jury
def test_where_a_client_cannot_be_talked_into_it_each_batch_has_a_new_producer(
    jvm_bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant("not_renewed", {'"txnPartitionMap"': '"not_there"'}, monkeypatch)
    threads, seen = written(jvm_bench, 4)
    assert [len(each) for each in threads] == [1] * 4
    assert len(set().union(*threads)) == 4
    assert len(seen) == 4


def test_another_driver_that_leads_meanwhile_is_not_overwritten(
    jvm_bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has fenced us, and written the very batch: ours is aborted, and then the other found."""
    sink, other = whole(jvm_bench), whole(jvm_bench, jvm=False)
    sink(jvm_bench.rows(0), 0)
    meanwhile_whole(monkeypatch, lambda: other(jvm_bench.rows(1), 1))
    sink(jvm_bench.rows(1), 1)
    assert way(sink) == ("whole", "python", True)
    sink(jvm_bench.rows(2), 2)
    assert way(sink) == ("whole", "jvm", False)
    assert jvm_bench.visible() == expected(0, 1, 2)


def test_another_driver_that_led_while_nothing_was_kept_is_seen_by_where_the_manifest_lies(
    jvm_bench: Bench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A new producer fences the other one: only the ledger tells."""
    sink = whole(jvm_bench)
    written_by_another_driver_first(sink, jvm_bench, monkeypatch)
    assert "somebody else has written there since the driver looked" in caplog.text
    assert way(sink) == ("whole", "python", True)
    assert jvm_bench.visible() == expected(0, 1)


def test_a_query_that_took_the_sink_over_ends_this_one(
    jvm_bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    from onceproof.sink import leader

    sink = whole(jvm_bench)
    sink(jvm_bench.rows(0), 0)
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(leader, "query_of", lambda _: "q-2")
        whole(jvm_bench, takeover=True)(jvm_bench.rows(7), 0)
    with pytest.raises(OwnershipError, match="query q-2 has taken it over from this one"):
        sink(jvm_bench.rows(1), 1)
    assert jvm_bench.visible() == expected(0, 7)


def test_a_ruling_meanwhile_is_heard(
    jvm_bench: Bench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The operator fences the driver's id: what was known before is not acted upon."""
    sink = whole(jvm_bench)
    sink(jvm_bench.rows(0), 0)
    settings = sink._announcer.settings
    meanwhile_whole(
        monkeypatch, lambda: rule(settings, batch=0, decision=Decision.ACCEPT, reason="seen")
    )
    sink(jvm_bench.rows(1), 1)
    assert "batch 1 is tried again" in caplog.text
    assert jvm_bench.visible() == expected(0, 1)


def test_a_batch_that_outlasts_its_transaction_goes_by_lanes(
    jvm_bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    slowly = "IF(reflect('java.lang.Thread', 'sleep', 20L) IS NULL, value, value) AS value"
    options = {"kafka.transaction.timeout.ms": "2500"}
    sink = whole(jvm_bench, lanes=8, options=options)
    slow = jvm_bench.spark.range(0, 400, 1, 2).selectExpr(
        "CAST(id AS STRING) AS key", "concat('0-', id) AS value"
    )
    sink(slow.selectExpr("key", slowly), 0)
    assert way(sink)[0] == "keys"
    assert "kafka.transaction.timeout.ms is 2500 (2.5 s), so the brokers" in caplog.text
    assert jvm_bench.visible() == expected(0)
    # It is remembered how long it took: the next one is not even tried.
    caplog.clear()
    sink(slow.selectExpr("key", slowly.replace("value, value", "key, key")), 1)
    assert way(sink)[:2] == ("whole", "python")  # few rows, of which each task's come at its end
    assert "is tried again" not in caplog.text


def test_rows_that_the_brokers_refuse_stop_the_sink_with_the_way_out(jvm_bench: Bench) -> None:
    large = jvm_bench.rows(0).selectExpr("key", "repeat('x', 2000000) AS value").limit(1)
    with pytest.raises(RefusedError, match=r"batch 0: .*kafka.max.request.size"):
        whole(jvm_bench)(large, 0)
    assert jvm_bench.visible() == []


def test_a_row_without_a_topic_is_refused_and_leaves_nothing(jvm_bench: Bench) -> None:
    some = jvm_bench.rows(0).selectExpr(
        "key", "value", f"IF(key = '7', NULL, '{jvm_bench.topic}') AS topic"
    )
    with pytest.raises(RefusedError, match=r"batch 0.*a row has no topic"):
        whole(jvm_bench, topic=None)(some, 0)
    assert jvm_bench.visible() == []


def test_what_the_jvm_fails_at_is_pythons_at_once_and_after_three_batches_all(
    jvm_bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    sink = whole(jvm_bench, options={"kafka.max.block.ms": "0"})
    for batch in range(5):
        sink(jvm_bench.rows(batch), batch)
        assert way(sink) == ("whole", "python", False)
    assert caplog.text.count("is tried again") == 3
    assert "3 batches in a row could not be written by Spark's JVM" in caplog.text
    assert jvm_bench.visible() == expected(0, 1, 2, 3, 4)


def test_a_query_writes_its_batches_whole_and_goes_on_after_a_stop(line: Pipeline) -> None:
    for _ in range(3):
        line.feed()
        line.run(line.sink())
    assert line.reports == [("whole", False, 20)] * 3
    assert line.counts() == each_key(3, 6, 9)


def test_a_batch_that_was_committed_before_the_driver_died_is_not_written_again(
    line: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    line.feed()
    die_after_the_commit(line, monkeypatch, JvmWhole, "write")
    line.run(line.sink())
    line.feed()
    line.run(line.sink())
    assert line.reports == [("whole", True, 20), ("whole", False, 20)]
    assert line.counts() == each_key(3, 6)


def test_a_replay_that_differs_stops(line: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    line.feed()
    die_after_the_commit(line, monkeypatch, JvmWhole, "write")
    line.shape = "concat(count + 1, '') AS value"
    with pytest.raises(Exception, match=r"batch 0: the replayed rows are not those.*`accept`"):
        line.run(line.sink())
    assert line.counts() == each_key(3)


def test_a_task_that_fails_leaves_nothing_and_its_batch_is_written_once_by_the_next_start(
    line: Pipeline,
) -> None:
    line.feed()
    line.shape = "if(assert_true(key != 'k7') IS NULL, concat(count, ''), '') AS value"
    with pytest.raises(Exception, match="assert_true"):
        line.run(line.sink())
    assert line.counts() == {}
    line.shape = "concat(count, '') AS value"
    line.run(line.sink())
    assert line.reports == [("whole", False, 20)]
    assert line.counts() == each_key(3)


def test_a_batch_that_the_user_keeps_is_written_as_it_was_kept(jvm_bench: Bench) -> None:
    """Computed again, it would be another one."""
    batch = jvm_bench.rows(0).selectExpr("key", "uuid() AS value").persist()
    kept = sorted(row["value"] for row in batch.collect())
    whole(jvm_bench)(batch, 0)
    batch.unpersist()
    assert jvm_bench.visible() == kept


def test_a_kept_micro_batch_is_written_as_it_was_kept(line: Pipeline) -> None:
    line.feed()
    line.shape = "uuid() AS value"
    sink, kept = line.sink(), []

    def write(batch: DataFrame, batch_id: int) -> None:
        batch.persist()
        kept.extend(row["value"] for row in batch.collect())
        sink(batch, batch_id)
        batch.unpersist()

    line.run(write)
    values = [each.value().decode() for each in committed(line.cluster, line.name)]
    assert sorted(values) == sorted(kept)
    assert len(kept) == 20


def test_two_columns_of_one_name_are_refused(jvm_bench: Bench) -> None:
    twice = jvm_bench.rows(0).selectExpr("key", "value", "key AS value")
    with pytest.raises(SinkError, match="more than one column value"):
        whole(jvm_bench)(twice, 0)
    assert jvm_bench.visible() == []
