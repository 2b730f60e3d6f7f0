"""The sink at a cluster that asks who it is: SASL_SSL, SCRAM, and only the least ACLs."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from onceproof.cluster import topics
from onceproof.cluster.local import LocalCluster
from onceproof.cluster.security import Access, Doorkeeper, Secured
from onceproof.deadline import Deadline
from onceproof.sink import (
    ExactlyOnceKafka,
    RefusedError,
    SinkError,
    exactly_once_kafka,
    leader,
)
from onceproof.sink.client import translate
from onceproof.sink.client.access import Need, least_access
from onceproof.sink.client.connection import require_connection

ROWS = 20
USER, PASSWORD = "writer", 'pa"ss\\word; '
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
REFUSED_S_MAX = 10.0
KAFKAS_WORDS = {
    "topic": "(Topic a|A)uthorization failed",
    "transactional_id": "Transactional Id authorization failed",
}


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Secured:
    return Secured.make(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def cluster(secured: Secured, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    folder: Path = tmp_path_factory.mktemp("secured")
    with LocalCluster.start(
        directory=folder / "data", logs=folder, brokers=1, properties=secured.properties()
    ) as started:
        yield started


@pytest.fixture(scope="module")
def doorkeeper(cluster: LocalCluster) -> Doorkeeper:
    keeper = Doorkeeper(cluster.bootstrap("judge"))
    keeper.add_user(USER, PASSWORD)
    return keeper


class Bench:
    """One sink with a topic of its own, called as foreachBatch would call it."""

    def __init__(
        self, cluster: LocalCluster, secured: Secured, doorkeeper: Doorkeeper, spark: SparkSession
    ) -> None:
        self.cluster, self.secured, self.doorkeeper, self.spark = (
            cluster,
            secured,
            doorkeeper,
            spark,
        )
        self.name = f"orders{time.monotonic_ns()}"
        self.topic = f"{self.name}.out"
        self.needs = least_access(
            sink_id=self.name, topic=self.topic, ledger_topic=f"{self.name}.ledger"
        )
        topics.create_topic(cluster.client(), self.topic, partitions=2)

    def allow(self, *needs: Need) -> None:
        self.doorkeeper.allow(USER, [access(need) for need in needs])

    def options(self, password: str = PASSWORD, **changes: str) -> dict[str, str]:
        """As a user of Spark's own sink has them."""
        quoted = password.replace("\\", "\\\\").replace('"', '\\"')
        return {
            "kafka.bootstrap.servers": self.cluster.bootstrap("suspects"),
            "kafka.security.protocol": "SASL_SSL",
            "kafka.sasl.mechanism": "SCRAM-SHA-512",
            "kafka.sasl.jaas.config": f'{SCRAM} required username="{USER}" password="{quoted}";',
            # Of no type given, as what is in the file decides.
            "kafka.ssl.truststore.location": str(self.secured.ca),
            **changes,
        }

    def write(self, batch: int, lanes: int = 2, *, fast: bool = True) -> None:
        """By a new sink each time: as after a restart."""
        sink = exactly_once_kafka(
            sink_id=self.name, topic=self.topic, lanes=lanes, options=self.options(), fast=fast
        )
        sink(self.rows(), batch)

    def on_executors(self, lanes: int = 2, *, jvm: bool) -> ExactlyOnceKafka:
        """A sink that writes every lane there."""
        return exactly_once_kafka(
            sink_id=self.name,
            topic=self.topic,
            lanes=lanes,
            options=self.options(),
            small_batch_bytes=0,
            small_lane_bytes=0,
            jvm=jvm,
        )

    def write_restart_and_grow(self, *, jvm: bool = False) -> None:
        for batch, lanes in enumerate((2, 2, 5)):
            if jvm:
                self.on_executors(lanes, jvm=True)(self.rows(), batch)
            else:
                self.write(batch, lanes)

    def rows(self) -> DataFrame:
        return self.spark.range(ROWS).selectExpr("CAST(id AS STRING) AS key", "'v' AS value")

    def written(self) -> int:
        """Records and markers: enough to see whether anything was written."""
        settled = topics.wait_settled(self.cluster.client(), self.topic, Deadline(30))
        return sum(settled.values())


def access(need: Need) -> Access:
    return Access(
        operation=need.operation,
        resource=need.resource,
        name=need.name,
        prefixed=need.prefixed,
    )


@pytest.fixture
def bench(
    cluster: LocalCluster,
    secured: Secured,
    doorkeeper: Doorkeeper,
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
) -> Bench:
    # Called without a streaming query around it, so the query's id is given by hand.
    monkeypatch.setattr(leader, "query_of", lambda _: "q-1")
    return Bench(cluster, secured, doorkeeper, spark)


def test_the_least_acls_are_enough_to_begin_to_go_on_and_to_grow(bench: Bench) -> None:
    bench.allow(*bench.needs)
    bench.write_restart_and_grow()
    assert bench.written() >= 3 * ROWS


def test_a_ledger_made_beforehand_needs_neither_create_nor_alter(bench: Bench) -> None:
    policy = {"cleanup.policy": "compact"}
    topics.create_topic(bench.cluster.client(), f"{bench.name}.ledger", partitions=3, config=policy)
    bench.allow(*(need for need in bench.needs if need.operation not in {"create", "alter"}))
    bench.write(0)
    bench.write(1)
    assert bench.written() >= 2 * ROWS


@pytest.mark.parametrize("number", range(len(least_access(sink_id="", topic="", ledger_topic=""))))
def test_each_acl_is_needed_and_the_error_names_what_it_is_about(bench: Bench, number: int) -> None:
    missing = bench.needs[number]
    bench.allow(*(need for need in bench.needs if need != missing))
    began = time.monotonic()
    with pytest.raises(SinkError, match=KAFKAS_WORDS[missing.resource]) as refused:
        bench.write_restart_and_grow()
    assert missing.name in str(refused.value), missing
    assert time.monotonic() - began < REFUSED_S_MAX


def test_a_ledger_that_may_not_be_written_is_told_by_lanes_of_executors_too(bench: Bench) -> None:
    """They wait for the manifest, and not for long where it cannot come."""
    missing = bench.needs[1]
    assert (missing.operation, missing.name) == ("write", f"{bench.name}.ledger")
    bench.allow(*(need for need in bench.needs if need != missing))
    sink = bench.on_executors(jvm=False)
    began = time.monotonic()
    with pytest.raises(RefusedError, match=KAFKAS_WORDS["topic"]) as refused:
        sink(bench.rows(), 0)
    assert missing.name in str(refused.value)
    assert time.monotonic() - began < REFUSED_S_MAX


def test_the_least_acls_are_enough_for_lanes_that_the_jvm_writes(bench: Bench) -> None:
    bench.allow(*bench.needs)
    sink = bench.on_executors(jvm=True)
    for batch in range(2):
        sink(bench.rows(), batch)
        assert sink.last_batch is not None
        assert sink.last_batch.writer == "jvm"
    assert bench.written() >= 2 * ROWS


@pytest.mark.parametrize("number", range(len(least_access(sink_id="", topic="", ledger_topic=""))))
def test_the_jvm_needs_no_other_acl_and_the_error_names_what_it_is_about(
    bench: Bench, number: int
) -> None:
    missing = bench.needs[number]
    bench.allow(*(need for need in bench.needs if need != missing))
    began = time.monotonic()
    with pytest.raises(SinkError, match=KAFKAS_WORDS[missing.resource]) as refused:
        bench.write_restart_and_grow(jvm=True)
    assert missing.name in str(refused.value), missing
    assert time.monotonic() - began < REFUSED_S_MAX


@pytest.mark.parametrize("number", [0, 1])
def test_what_may_not_be_written_is_told_without_the_c_library_too(
    bench: Bench, number: int
) -> None:
    missing = bench.needs[number]
    bench.allow(*(need for need in bench.needs if need != missing))
    with pytest.raises(SinkError, match=KAFKAS_WORDS["topic"]) as refused:
        bench.write(0, fast=False)
    assert missing.name in str(refused.value), missing


def test_a_wrong_password_is_told_as_one_within_seconds(bench: Bench) -> None:
    began = time.monotonic()
    with pytest.raises(SinkError, match="invalid credentials") as refused:
        require_connection(translate(bench.options(password="s3cret")))
    assert time.monotonic() - began < REFUSED_S_MAX
    assert "s3cret" not in str(refused.value)


def test_the_sink_itself_stops_at_a_wrong_password_within_seconds(bench: Bench) -> None:
    began = time.monotonic()
    sink = exactly_once_kafka(
        sink_id=bench.name, topic=bench.topic, options=bench.options(password="s3cret")
    )
    with pytest.raises(SinkError, match="invalid credentials"):
        sink(bench.rows(), 0)
    assert time.monotonic() - began < REFUSED_S_MAX


def test_brokers_of_another_ca_are_not_trusted(bench: Bench, tmp_path: Path) -> None:
    foreign = Secured.make(tmp_path)
    options = bench.options(**{"kafka.ssl.truststore.location": str(foreign.ca)})
    with pytest.raises(SinkError, match="certificate verify failed"):
        require_connection(translate(options))


def test_a_right_login_is_let_in(bench: Bench) -> None:
    require_connection(translate(bench.options()))
    require_connection(translate(bench.options(**{"kafka.ssl.truststore.type": "PEM"})))
