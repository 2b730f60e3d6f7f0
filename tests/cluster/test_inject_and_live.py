"""The injector and the live validator, with Spark's Kafka connector and a real broker."""

import threading
import uuid
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from onceproof.checks.live import LiveValidator
from onceproof.cluster import topics
from onceproof.cluster.local import LocalCluster
from onceproof.deadline import Deadline, wait_until
from onceproof.history.finding import Finding
from onceproof.history.topic_records import read_topic
from onceproof.trial.spark import JudgeSpark
from onceproof.workloads.catalog import WORKLOADS
from onceproof.workloads.inject import inject
from onceproof.workloads.input_plan import InputPlan
from onceproof.workloads.pace import Pace

COPY = WORKLOADS["copy"]
FOLD = WORKLOADS["fold"]
PLAN = InputPlan.of(seed=5, records=600, keys=20)


@dataclass(frozen=True, kw_only=True)
class Lab:
    cluster: LocalCluster
    spark: SparkSession
    directory: Path

    @property
    def options(self) -> dict[str, str]:
        return {"kafka.bootstrap.servers": self.cluster.bootstrap()}

    def topic(self) -> str:
        name = f"topic-{uuid.uuid4().hex[:8]}"
        topics.create_topic(self.cluster.client(), name, partitions=3)
        return name

    def feed(self, topic: str, from_index: int, to_index: int, **more: Any) -> int:
        return inject(
            self.spark,
            COPY,
            PLAN,
            from_index,
            to_index,
            topic=topic,
            options=self.options,
            **more,
        )

    def write(self, topic: str, *records: tuple[str, str]) -> None:
        frame = self.spark.createDataFrame(list(records), "key string, value string")
        frame.coalesce(1).write.format("kafka").options(**self.options, topic=topic).save()

    def read(self, topic: str) -> DataFrame:
        return read_topic(self.spark, topic, self.options)

    def validator(self, topic: str, **more: Any) -> LiveValidator:
        return LiveValidator(
            spark=self.spark,
            topic=topic,
            options=self.options,
            checkpoint=self.directory / uuid.uuid4().hex,
            **more,
        )


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    directory = tmp_path_factory.mktemp("lab")
    (directory / "logs").mkdir()
    cluster = LocalCluster.start(brokers=1, directory=directory / "data", logs=directory / "logs")
    with cluster:
        judge = JudgeSpark.start(directory / "logs", directory / "scratch")
        try:
            yield Lab(cluster=cluster, spark=judge.session, directory=directory)
        finally:
            judge.stop()


def by_key(records: DataFrame) -> dict[str, list[str]]:
    values = defaultdict(list)
    for row in records.orderBy("partition", "offset").collect():
        values[row["key"]].append(row["value"])
    return dict(values)


def wait_for(validator: LiveValidator, batches: int) -> None:
    def looked() -> bool:
        assert validator.crash() is None
        return validator.batches_judged >= batches

    wait_until(looked, Deadline(90), f"the live validator has not looked {batches} times")


def wait_for_finding(validator: LiveValidator) -> Finding:
    def found() -> Finding | None:
        assert validator.crash() is None
        return validator.finding()

    return wait_until(found, Deadline(90), "the live validator has found nothing")


def test_a_burst_and_a_paced_feed_write_the_same_input(lab: Lab) -> None:
    burst, paced = lab.topic(), lab.topic()
    heard: list[int] = []
    assert lab.feed(burst, 0, 250) == 250
    assert lab.feed(burst, 250, 600) == 350
    assert lab.feed(paced, 0, 600, pace=Pace(250.0), on_progress=heard.append) == 600
    assert heard == sorted(heard)
    assert len(heard) >= 2
    assert heard[-1] == 600
    assert by_key(lab.read(burst)) == by_key(lab.read(paced))
    assert COPY.input_flaws(lab.read(burst)).count() == 0


def test_a_paced_feed_stops_when_asked_and_says_how_much_it_wrote(lab: Lab) -> None:
    topic, stop = lab.topic(), threading.Event()
    deadline = Deadline(60)
    written = lab.feed(topic, 0, 600, pace=Pace(5.0), stop=stop, on_progress=lambda _: stop.set())
    assert 0 < written < 600
    assert lab.read(topic).count() == written
    assert deadline.elapsed_s() < 30


def test_an_honest_output_passes_and_a_repeated_record_is_found_across_batches(lab: Lab) -> None:
    source, output = lab.topic(), lab.topic()
    heard: list[Finding] = []
    lab.feed(source, 0, 200)
    lab.feed(output, 0, 200)
    validator = lab.validator(
        output,
        observed=COPY.observed,
        truth=lambda spark: COPY.expected(read_topic(spark, source, lab.options)),
        on_finding=heard.append,
    )
    validator.start()
    try:
        wait_for(validator, 1)
        assert validator.finding() is None
        (again,) = lab.read(output).where("value LIKE '%\"7-3\"%'").collect()
        lab.write(output, (again["key"], again["value"]))
        finding = wait_for_finding(validator)
    finally:
        validator.stop()
    assert heard == [finding]
    assert (finding.anomaly, finding.count) == ("duplicated", 1)
    assert finding.witnesses[0].facts["unit"] == "7-3"
    assert finding.witnesses[0].facts["first_offset"] == again["offset"]
    assert finding.witnesses[0].facts["input_topic"] == source


def test_what_a_retried_injector_wrote_twice_may_come_out_twice(lab: Lab) -> None:
    source, output = lab.topic(), lab.topic()
    for topic in (source, source, output, output):
        lab.feed(topic, 0, 40)
    validator = lab.validator(
        output,
        observed=COPY.observed,
        truth=lambda spark: COPY.expected(read_topic(spark, source, lab.options)),
    )
    validator.start()
    try:
        wait_for(validator, 1)
        assert validator.finding() is None
    finally:
        validator.stop()


def test_a_state_that_goes_back_is_found_across_batches(lab: Lab) -> None:
    output = lab.topic()
    state = '{{"key":"17","count":{0},"max":{0},"id":"17-{0}"}}'
    lab.write(output, ("17", state.format(57)), ("17", state.format(58)))
    validator = lab.validator(output, observed=FOLD.observed, cumulative=True)
    validator.start()
    try:
        wait_for(validator, 1)
        assert validator.finding() is None
        lab.write(output, ("17", state.format(31)))
        finding = wait_for_finding(validator)
    finally:
        validator.stop()
    places = sorted(
        f"{row['topic']}-{row['partition']}@{row['offset']}" for row in lab.read(output).collect()
    )
    assert [witness.sentence for witness in finding.witnesses] == [
        f"key 17 was 58 at {places[1]}, then 31 at {places[2]}: regressed."
    ]


def test_a_crash_of_the_validator_is_reported(lab: Lab) -> None:
    def broken(records: DataFrame) -> DataFrame:
        return records.select("no_such_column")

    output = lab.topic()
    lab.feed(output, 0, 40)
    validator = lab.validator(output, observed=broken)
    validator.start()
    try:
        reason = wait_until(validator.crash, Deadline(60), "the crash was not reported")
    finally:
        validator.stop()
    assert "no_such_column" in reason
    assert validator.finding() is None
