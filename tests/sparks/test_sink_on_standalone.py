"""The sink on a Spark of several processes: executors and Python workers die or are overtaken.

The connector reaches the executors by spark.jars, the sink as a zip by spark.submit.pyFiles;
confluent-kafka and pyarrow are installed for the Python that executors use (spark.pyspark.python).
"""

import json
import math
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from families import executors, jvm_of, python_workers
from holding import SETTLE_S, Held, hold_while_writing
from program import Program, sink_alone
from records import Input
from standalone import Standalone
from venvs import own_spark

from onceproof.cluster.local import LocalCluster
from onceproof.deadline import Deadline, wait_until

RECORDS = 60_000
BATCH_SIZE = 10_000
IDLE_S_MAX = 30.0
FENCED_S_MAX = 40.0
# How long Spark waits for an executor that says nothing.
IMPATIENCE = {
    "spark.network.timeout": "8s",
    "spark.network.timeoutInterval": "2s",
    "spark.executor.heartbeatInterval": "1s",
}
SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.quantile": "0.25",
    "spark.speculation.multiplier": "1.1",
    # Judged by time alone: a task that stands still has read as many rows as any other.
    "spark.speculation.efficiency.enabled": "false",
}


@pytest.fixture(scope="module")
def standalone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standalone]:
    with Standalone.start(tmp_path_factory.mktemp("standalone")) as started:
        yield started


class Bench:
    """A program on the standalone Spark, its input in place."""

    def __init__(self, program: Program, standalone: Standalone, folder: Path) -> None:
        self.program = program
        self.standalone = standalone
        self.given: Input = program.given(records=RECORDS, keys=500)
        self._folder = folder

    def start(
        self, settings: dict[str, str] | None = None, slow_s: float = 0.0, jvm: bool = False
    ) -> None:
        wait_until(self.standalone.is_idle, Deadline(IDLE_S_MAX), "executors of an earlier test")
        (self._folder / "events").mkdir()
        shipped = {
            "spark.submit.pyFiles": str(sink_alone(self._folder)),
            "spark.pyspark.python": str(own_spark().python),
            "spark.executor.memory": "512m",
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": (self._folder / "events").as_uri(),
            "spark.eventLog.compress": "false",
        }
        self.program.start(
            "available-now",
            batch_size=BATCH_SIZE,
            settings={**shipped, **(settings or {})},
            # All lanes on executors: those are what these tests kill.
            options={
                "--small-lane-bytes": "0",
                "--slow-s": str(slow_s),
                "--jvm": "yes" if jvm else "no",
            },
        )

    def start_and_write(
        self, settings: dict[str, str] | None = None, slow_s: float = 0.0, jvm: bool = False
    ) -> None:
        self.start(settings, slow_s, jvm)
        self.program.wait_for_batches(1)

    def hold_a_writing_worker(self) -> Held:
        return self._hold_writing(lambda: python_workers(self.standalone.workers))

    def hold_a_writing_executor(self) -> Held:
        return self._hold_writing(lambda: executors(self.standalone.workers))

    def _hold_writing(self, candidates: Callable[[], list[int]]) -> Held:
        client = self.program.cluster.client()
        return hold_while_writing(candidates, client, self.program.outputs())

    def wait_until_fenced(self, held: Held) -> None:
        """Another attempt has the lane now, long before the transaction would time out."""
        wait_until(
            held.is_fenced, Deadline(FENCED_S_MAX), "no other attempt took the lane", pause_s=0.1
        )

    def finish(self) -> None:
        self.program.wait_for_end()
        self.program.require_exactly_once(self.given)

    def writers(self) -> list[str]:
        """Of each batch, in order; one pipeline's after the other's."""
        of_all = (self.program.batches(name) for name in self.program.pipelines)
        return [batch["writer"] for batches in of_all for batch in batches]

    def task_starts(self) -> list[dict[str, Any]]:
        """Each start of a task, as Spark's event log has it once the program has ended."""
        files = [file for file in (self._folder / "events").rglob("*") if file.is_file()]
        lines = [line for file in files for line in file.read_text().splitlines()]
        starts = [json.loads(line) for line in lines if '"SparkListenerTaskStart"' in line]
        return [start["Task Info"] for start in starts]

    def retries(self) -> int:
        return sum(task["Attempt"] > 0 and not task["Speculative"] for task in self.task_starts())

    def twins_started(self, since_ms: float = 0, until_ms: float = math.inf) -> int:
        """How many speculative attempts were started in that time."""
        return sum(
            task["Speculative"] and since_ms <= task["Launch Time"] <= until_ms
            for task in self.task_starts()
        )


@pytest.fixture
def pipelines() -> tuple[str, ...]:
    return ("fold", "copy")


@pytest.fixture
def bench(
    cluster: LocalCluster,
    standalone: Standalone,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    pipelines: tuple[str, ...],
) -> Iterator[Bench]:
    with Program(
        f"standalone-{abs(hash(request.node.name))}",
        cluster=cluster,
        spark=own_spark(),
        folder=tmp_path,
        master=standalone.url,
        pipelines=pipelines,
    ) as program:
        yield Bench(program, standalone, tmp_path)


@pytest.mark.jury
@pytest.mark.parametrize("pipelines", [("copy",), ("fold",)], ids="-".join)
def test_an_executor_is_killed_and_its_python_worker_wakes_up_fenced(bench: Bench) -> None:
    bench.start_and_write()
    held = bench.hold_a_writing_worker()
    os.kill(jvm_of(held.pid), signal.SIGKILL)
    bench.wait_until_fenced(held)
    held.let_go_on()
    bench.finish()
    assert bench.retries() > 0


@pytest.mark.jury
def test_a_python_worker_is_killed_in_its_transaction(bench: Bench) -> None:
    bench.start_and_write()
    bench.hold_a_writing_worker().kill()
    bench.finish()
    assert bench.retries() > 0


@pytest.mark.jury
@pytest.mark.parametrize("pipelines", [("copy",), ("fold",)], ids="-".join)
def test_an_executor_that_writes_lanes_itself_stands_still_and_wakes_up_fenced(
    bench: Bench,
) -> None:
    bench.start_and_write(IMPATIENCE, jvm=True)
    held = bench.hold_a_writing_executor()
    bench.wait_until_fenced(held)
    held.let_go_on()
    bench.finish()
    assert bench.retries() > 0
    assert bench.writers()[0] == "jvm"


@pytest.mark.jury
def test_an_executor_is_killed_in_the_transaction_of_a_lane_that_it_writes_itself(
    bench: Bench,
) -> None:
    bench.start_and_write(jvm=True)
    bench.hold_a_writing_executor().kill()
    bench.finish()
    assert bench.retries() > 0
    assert (bench.writers()[0], bench.writers()[-1]) == ("jvm", "jvm")


@pytest.mark.jury
def test_speculation_overtakes_a_slow_task_before_the_sink(bench: Bench) -> None:
    """With its twins, rows go through Python, whatever is asked for."""
    bench.start_and_write(SPECULATION, slow_s=4.0, jvm=True)
    bench.finish()
    assert bench.twins_started() > 0
    assert set(bench.writers()) == {"python"}


@pytest.mark.jury
def test_speculation_overtakes_a_lane_that_stands_still_in_its_transaction(bench: Bench) -> None:
    bench.start_and_write(SPECULATION)
    held = bench.hold_a_writing_worker()
    held_ms = time.time() * 1000
    bench.wait_until_fenced(held)
    fenced_ms = time.time() * 1000
    held.let_go_on()
    bench.finish()
    assert bench.twins_started(held_ms - SETTLE_S * 1000, fenced_ms) > 0


# What an executor runs at the start of each Python: as if the package were not installed there.
HIDES_THE_CLIENT = "import sys; sys.modules['confluent_kafka'] = None\n"


@pytest.mark.jury
@pytest.mark.parametrize("pipelines", [("copy",)], ids="-".join)
def test_an_executor_without_the_client_is_named(bench: Bench, tmp_path: Path) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "sitecustomize.py").write_text(HIDES_THE_CLIENT)
    bench.start({"spark.executorEnv.PYTHONPATH": str(hidden)})
    assert "has no Python package confluent-kafka; docs/sink.md tells" in bench.program.failure()
