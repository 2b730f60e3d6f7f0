"""Reads the topics back into the run directory. What stands there, and only that, is judged.

input topic, output topic (read_committed) ──Spark──▶ history/input, history/output   (Parquet)
output log, batch by batch ──raw fetches──▶ history/batches                          (Parquet)
offsets log, commits of the group ──raw fetches──▶ history/commits                   (Parquet)
the suspect's position, taken before ──▶ history/positions.json
"""

from dataclasses import asdict
from typing import Any

from onceproof.cluster.offset_commits import read_commits
from onceproof.cluster.rawlog import read_batches
from onceproof.history.schemas import BATCHES, COMMITS
from onceproof.history.topic_records import read_topic
from onceproof.suspects.suspect import PositionHome
from onceproof.trial.judging.tables import save_positions
from onceproof.trial.stage import Stage


def read_back(stage: Stage, position: dict[int, int] | None, *, whole_log: bool) -> None:
    """`position` was read before the call: a record passed in between would look lost."""
    options = {"kafka.bootstrap.servers": stage.cluster.bootstrap("judge")}
    # The output first: all that is in it then has its input in what is read after.
    for name, topic in (("output", stage.output_topic), ("input", stage.input_topic)):
        records = read_topic(stage.spark, topic, options)
        records.write.mode("overwrite").parquet(str(stage.directory.history / name))
    if whole_log:
        _write_batches(stage)
        # On a cluster of others that log is theirs, and may be of any size.
        if stage.brokers and stage.plan.suspect.position is PositionHome.GROUP:
            _write_commits(stage)
    save_positions(stage.directory, position)


def _write_batches(stage: Stage) -> None:
    rows = [
        tuple(asdict(batch).values())
        for partition in range(stage.plan.scenario.partitions)
        for batch in read_batches(stage.client, stage.output_topic, partition)
    ]
    _write(stage, "batches", rows, BATCHES)


def _write_commits(stage: Stage) -> None:
    rows = [tuple(asdict(commit).values()) for commit in read_commits(stage.client, stage.app_id)]
    _write(stage, "commits", rows, COMMITS)


def _write(stage: Stage, name: str, rows: list[tuple[Any, ...]], schema: str) -> None:
    frame = stage.spark.createDataFrame(rows, schema)
    frame.coalesce(1).write.mode("overwrite").parquet(str(stage.directory.history / name))
