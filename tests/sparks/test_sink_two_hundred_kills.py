"""Two hundred SIGKILLs over drivers, executors and Python workers, in one run of two pipelines.

    a steady feed ──▶ copy, state ──▶ sink ──▶ two topics ──▶ three judges

Sixteen lives of a driver. In each, executors and Python workers are killed, every second time with
a transaction seen open, each kill only after both pipelines have written a batch since the last
one; then the driver is killed. Lives differ: number of lanes, whether small batches go whole, who
writes lanes (Spark's JVM or Python), and whether a lane's rows come to Python in one piece or in
many: one that dies between two is cut off.
"""

import itertools
import json
import os
import random
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from families import executors, python_workers
from program import Program, sink_alone
from readers import by_console, by_pure_python
from records import ByKey, differences
from standalone import Standalone
from venvs import own_spark

from onceproof.checks.case import Case
from onceproof.checks.judge import judge
from onceproof.cluster import topics
from onceproof.cluster.local import LocalCluster
from onceproof.deadline import Deadline, pause
from onceproof.history.schemas import POSITIONS
from onceproof.history.topic_records import read_topic
from onceproof.process import Child
from onceproof.trial.spark import JudgeSpark
from onceproof.workloads.catalog import workload_named
from onceproof.workloads.inject import inject
from onceproof.workloads.input_plan import InputPlan
from onceproof.workloads.pace import Pace

pytestmark = [pytest.mark.jury, pytest.mark.timeout(5400)]
LIVES = 16
TARGETS = ["worker", "worker", "executor"] * 4
# How each life writes, in turn. Only in one of Python's own are Python workers at work.
WAYS = ("jvm", "python", "jvm", "whole")
RECORDS_MAX = 1_000_000
RECORDS_A_SECOND = 300
BATCH_SIZE = 2_000
PIECES = ["20", "10000"]  # rows of a piece; the second is Spark's default
SIGHT_S_MAX = 5.0
TARGET_S_MAX = 90.0
PIPELINES = {"copy": "copy", "state": "fold"}  # pipeline → the workload that judges it
CHECKS = ("lost", "duplicated", "reordered", "regressed", "wrong", "invented")


@dataclass
class Kills:
    """What was killed, and in which way of writing how often with a transaction open."""

    counted: Counter[str] = field(default_factory=Counter)  # by target
    in_transaction: Counter[str] = field(default_factory=Counter)  # by way


class Ordeal:
    def __init__(self, program: Program, standalone: Standalone, folder: Path) -> None:
        self.program = program
        self.kills = Kills()
        self.writers: Counter[str] = Counter()  # of how many batches
        self._standalone = standalone
        self._folder = folder
        self._dice = random.Random(4)

    def live(self, number: int) -> None:
        """One life of the driver, from its start to its end by SIGKILL."""
        way = WAYS[number % len(WAYS)]
        run = self.start("micro-batches", way)
        self.program.wait_for_batches(1)
        targets = list(TARGETS) if way == "python" else ["executor"] * len(TARGETS)
        self._dice.shuffle(targets)
        for target in targets:
            self._kill(way, target, lambda target=target: self._signal(target))
            self._await_more_batches(way)
        self.writers.update(
            line["writer"] for name in PIPELINES for line in self.program.batches(name)
        )
        self._kill(way, "driver", lambda: _killed(run))

    def start(self, trigger: str, way: str) -> Child:
        lanes = self._dice.choice([1, 2, 3, 4, 8])
        return self.program.start(
            trigger,
            batch_size=BATCH_SIZE,
            settings={
                "spark.submit.pyFiles": str(sink_alone(self._folder)),
                "spark.pyspark.python": str(own_spark().python),
                "spark.executor.memory": "512m",
                "spark.sql.execution.arrow.maxRecordsPerBatch": self._dice.choice(PIECES),
            },
            options={
                "--lanes": str(lanes),
                "--small-lane-bytes": "0",  # all lanes on executors
                "--small-batch-bytes": str(2**20 if way == "whole" else 0),
                "--jvm": "yes" if way == "jvm" else "no",
            },
        )

    def _kill(self, way: str, target: str, kill: Callable[[], bool]) -> None:
        """Every second one when a transaction is open on an output."""
        aimed = sum(self.kills.counted.values()) % 2 == 0
        deadline = Deadline(TARGET_S_MAX)
        while not deadline.expired():
            open_now = self._sees_transaction() if aimed else False
            if kill():
                self.kills.counted[target] += 1
                self.kills.in_transaction[way] += open_now
                return
            pause(0.05)
        raise AssertionError(f"no {target} to kill")

    def _sees_transaction(self) -> bool:
        sight = Deadline(SIGHT_S_MAX)
        client = self.program.cluster.client()
        while not sight.expired():
            if any(topics.open_transactions(client, topic) for topic in self.program.outputs()):
                return True
            pause(0.002)
        return False

    def _signal(self, target: str) -> bool:
        family = executors if target == "executor" else python_workers
        found = family(self._standalone.workers)
        if not found:
            return False
        os.kill(self._dice.choice(found), signal.SIGKILL)
        return True

    def _await_more_batches(self, way: str) -> None:
        """In the JVM's lives one of its own: what a kill broke off is taken up by Python."""
        writer = "jvm" if way == "jvm" else None
        for name in PIPELINES:
            more = len(self.program.batches(name, by=writer)) + 1
            self.program.wait_for_batches(more, of=[name], by=writer)


def _killed(run: Child) -> bool:
    run.kill()
    return True


@pytest.fixture(scope="module")
def standalone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standalone]:
    with Standalone.start(tmp_path_factory.mktemp("standalone")) as started:
        yield started


@pytest.fixture
def judge_spark(tmp_path: Path) -> Iterator[JudgeSpark]:
    started = JudgeSpark.start(tmp_path, tmp_path / "judge")
    yield started
    started.stop()


class Feed:
    """Records of onceproof's own workloads, at a steady pace until it is stopped."""

    def __init__(self, spark: JudgeSpark, cluster: LocalCluster, topic: str) -> None:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(spark, cluster, topic))
        topics.create_topic(cluster.client(), topic, partitions=4)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self, spark: JudgeSpark, cluster: LocalCluster, topic: str) -> None:
        inject(
            spark.session,
            workload_named("copy"),
            InputPlan.of(seed=7, records=RECORDS_MAX, keys=200),
            0,
            RECORDS_MAX,
            topic=topic,
            options={
                "kafka.bootstrap.servers": cluster.bootstrap("judge"),
                "kafka.compression.type": "none",  # kafka-python brings no lz4
            },
            pace=Pace(RECORDS_A_SECOND),
            stop=self._stop,
        )


def test_nothing_is_lost_repeated_torn_or_reordered(
    cluster: LocalCluster, standalone: Standalone, judge_spark: JudgeSpark, tmp_path: Path
) -> None:
    with Program(
        "ordeal",
        cluster=cluster,
        spark=own_spark(),
        folder=tmp_path,
        master=standalone.url,
        pipelines=tuple(PIPELINES),
    ) as program:
        for topic in program.outputs():
            topics.create_topic(cluster.client(), topic, partitions=3)
        feed = Feed(judge_spark, cluster, "ordeal-in")
        ordeal = Ordeal(program, standalone, tmp_path)
        try:
            for number in range(LIVES):
                ordeal.live(number)
                _say(number, ordeal.kills)
        finally:
            feed.stop()
        ordeal.start("available-now", "jvm")
        program.wait_for_end()

        kills = ordeal.kills
        assert set(ordeal.writers) == {"jvm", "python"}, ordeal.writers
        assert sum(kills.counted.values()) == LIVES * (len(TARGETS) + 1)
        for way, lives in Counter(WAYS[number % len(WAYS)] for number in range(LIVES)).items():
            assert kills.in_transaction[way] > lives * (len(TARGETS) + 1) // 5, (way, kills)
        for pipeline, workload in PIPELINES.items():
            acquitted_by_onceproof(judge_spark, cluster, f"ordeal-{pipeline}", workload)
        for reader in (by_console, by_pure_python):
            given = reader(cluster, "ordeal-in")
            assert differences(reader(cluster, "ordeal-copy"), given) == []
            assert states_told(reader(cluster, "ordeal-state"), given) == []
        _say(LIVES, kills, sum(len(values) for values in given.values()))


def _say(lives: int, kills: Kills, records: int | None = None) -> None:
    """Shown with `pytest -s`."""
    print(lives, dict(kills.counted), "in transaction:", dict(kills.in_transaction), records or "")  # noqa: T201


def acquitted_by_onceproof(
    judge_spark: JudgeSpark, cluster: LocalCluster, output: str, name: str
) -> None:
    spark, workload = judge_spark.session, workload_named(name)
    options = {"kafka.bootstrap.servers": cluster.bootstrap("judge")}
    records = read_topic(spark, "ordeal-in", options).cache()
    ends = topics.end_offsets(cluster.client(), "ordeal-in")
    case = Case(
        expected=workload.expected(records).cache(),
        observed=workload.observed(read_topic(spark, output, options)).cache(),
        positions=spark.createDataFrame(list(ends.items()), POSITIONS),
        cumulative=workload.cumulative,
        transactional=True,
    )
    judgement = judge(case, CHECKS)
    assert (judgement.findings, dict(judgement.unknown)) == ((), {})
    # Each fits one of the two: states that are told regress, records are reordered.
    assert set(judgement.off) == {"reordered" if workload.cumulative else "regressed"}


def states_told(seen: ByKey, given: ByKey) -> list[str]:
    """Counts must rise, each state must be that of so many records, and the last that of all."""
    wrong = []
    for key in sorted(given.keys() | seen.keys()):
        records = [json.loads(value) for value in given.get(key, [])]
        states = [json.loads(value) for value in seen.get(key, [])]
        counts = [state["count"] for state in states]
        must_be = [
            {
                "key": key,
                "count": count,
                "max": max(record["value"] for record in records[:count]),
                "id": records[count - 1]["id"],
            }
            for count in counts
            if 0 < count <= len(records)
        ]
        rises = all(before < after for before, after in itertools.pairwise(counts))
        if states != must_be or not rises or counts[-1:] != [len(records)]:
            wrong.append(f"{key}: counts {counts[-5:]} of {len(records)} records")
    return wrong
