"""pipeline.py as a child process on some Spark: started, followed by its JSON lines, killed."""

import json
import os
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from records import Input, copied, differences, folded, visible
from venvs import Spark

from onceproof.cluster import topics
from onceproof.cluster.local import LocalCluster
from onceproof.deadline import Deadline, wait_until
from onceproof.process import Child, spawn

PROGRAM = Path(__file__).with_name("pipeline.py")
SOURCE = Path(__file__).parents[2] / "src"
OUTPUT_PARTITIONS = 3
START_S_MAX = 90.0
END_S_MAX = 180.0
_JVM_FLAGS = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"


class Program:
    """One program with its input, outputs and checkpoints; run as often as it takes."""

    def __init__(
        self,
        name: str,
        *,
        cluster: LocalCluster,
        spark: Spark,
        folder: Path,
        master: str,
        pipelines: Sequence[str] = ("fold", "copy"),
    ) -> None:
        self.name = name
        self.cluster = cluster
        self.pipelines = pipelines
        self._spark = spark
        self._folder = folder
        self._master = master
        self._runs: list[Child] = []

    def __enter__(self) -> "Program":
        return self

    def __exit__(self, *_: object) -> None:
        for run in self._runs:
            run.kill()

    def outputs(self) -> list[str]:
        return [f"{self.name}-{pipeline}" for pipeline in self.pipelines]

    def given(self, *, records: int, keys: int) -> Input:
        """Make the topics, fill the input."""
        given = Input.make(f"{self.name}-in", records=records, keys=keys)
        given.feed(self.cluster)
        for topic in self.outputs():
            topics.create_topic(self.cluster.client(), topic, partitions=OUTPUT_PARTITIONS)
        return given

    def start(
        self,
        trigger: str,
        *,
        batch_size: int,
        settings: Mapping[str, str] | None = None,
        options: Mapping[str, str] | None = None,
    ) -> Child:
        """`settings` are Spark's, `options` the program's own."""
        command = {
            "--bootstrap": self.cluster.bootstrap("suspects"),
            "--input": f"{self.name}-in",
            "--output": self.name,
            "--checkpoint": str(self._folder / "checkpoint"),
            "--master": self._master,
            "--pipelines": ",".join(self.pipelines),
            "--trigger": trigger,
            "--batch-size": str(batch_size),
            **(options or {}),
        }
        every = {**self._settings(), **(settings or {})}
        child = spawn(
            f"pipeline of {self.name}",
            [
                str(self._spark.python),
                str(PROGRAM),
                *(word for option in command.items() for word in option),
                *(f"--conf={name}={value}" for name, value in every.items()),
            ],
            log=self._folder / f"run-{len(self._runs)}.log",
            environment={**without_other_sparks(), "PYTHONPATH": str(SOURCE)},
        )
        self._runs.append(child)
        return child

    def _settings(self) -> dict[str, str]:
        return {
            "spark.jars": self._spark.connector(),
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.memory": "1g",
            "spark.driver.extraJavaOptions": _JVM_FLAGS,
            "spark.executor.extraJavaOptions": _JVM_FLAGS,
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": "2",
            "spark.local.dir": str(self._folder / "scratch"),
        }

    def batches(self, pipeline: str, by: str | None = None) -> list[dict[str, Any]]:
        """What the present run has told of its batches, or of those by this writer."""
        lines = [line for line in told(self._runs[-1]) if line.get("pipeline") == pipeline]
        return [line for line in lines if by is None or line["writer"] == by]

    def wait_for_batches(
        self, count: int, of: Sequence[str] | None = None, by: str | None = None
    ) -> None:
        """Until each pipeline, or each of these, has written so many in the present run."""
        run = self._runs[-1]
        pipelines = self.pipelines if of is None else of

        def enough() -> bool:
            assert run.is_running(), f"ended too early\n{run.log_tail(40)}"
            return all(len(self.batches(pipeline, by)) >= count for pipeline in pipelines)

        wait_until(
            enough, Deadline(START_S_MAX), lambda: f"no {count} batches yet\n{run.log_tail(40)}"
        )

    def wait_for_end(self) -> None:
        run = self._runs[-1]
        wait_until(
            lambda: not run.is_running(),
            Deadline(END_S_MAX),
            lambda: f"did not end\n{run.log_tail(40)}",
        )
        assert run.exit_code() == 0, run.log_tail(60)

    def failure(self) -> str:
        """The end of the log of a run that failed."""
        run = self._runs[-1]
        wait_until(
            lambda: not run.is_running(),
            Deadline(START_S_MAX),
            lambda: f"did not end\n{run.log_tail(40)}",
        )
        assert run.exit_code() == 1, run.log_tail(60)
        return run.log_tail(60)

    def require_exactly_once(self, given: Input) -> None:
        for pipeline in self.pipelines:
            checkpoint = self._folder / "checkpoint" / pipeline
            must_be = copied(given) if pipeline == "copy" else folded(given, checkpoint)
            seen = visible(self.cluster, f"{self.name}-{pipeline}")
            assert differences(seen, must_be) == []


def told(run: Child) -> list[dict[str, Any]]:
    """The JSON lines among what a program has printed, whole ones only."""
    lines = run.log.read_text(errors="replace").split("\n")[:-1]
    return [json.loads(line) for line in lines if line.startswith('{"event"')]


def sink_alone(folder: Path) -> Path:
    """A zip of the sink and nothing else of onceproof, as a user ships it to executors."""
    package = folder / "onceproof-sink.zip"
    with zipfile.ZipFile(package, "w") as packed:
        packed.write(SOURCE / "onceproof" / "__init__.py", "onceproof/__init__.py")
        for file in sorted((SOURCE / "onceproof" / "sink").rglob("*.py")):
            packed.write(file, file.relative_to(SOURCE))
    return package


def without_other_sparks() -> dict[str, str]:
    """What a session in this process has put into the environment is not for another Spark."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("SPARK_", "PYSPARK_"))
    }
    return {**kept, "SPARK_LOCAL_IP": "127.0.0.1"}
