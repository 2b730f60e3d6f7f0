"""One run of the fold as a process of its own, and its course: how much was committed when.

Streams   committed offsets of its group, asked for every 50 ms ─┐
Spark     the ends of its micro-batches, by its own account ─────┴─▶ Course ──▶ records/s
"""

import argparse
import contextlib
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from sink_stage import CRUMBS, BatchTime, seconds_of, warm_rate

from onceproof import jars
from onceproof.cluster import topics
from onceproof.cluster.local import LocalCluster
from onceproof.deadline import Deadline, wait_until
from onceproof.errors import ClusterError
from onceproof.machine import find_java
from onceproof.process import Child, spawn

STREAMS_SET = "streams-4.3.1"
RUN_S_MAX = 900.0
LOOK_EVERY_S = 0.05
STOP_S_MAX = 60.0
BESIDE = Path(__file__).parent


@dataclass(frozen=True, kw_only=True)
class Point:
    """So many records of the input were committed at this time."""

    at_s: float
    records: int


@dataclass(frozen=True, kw_only=True)
class Course:
    """One run. `points` rise, and the last one is the whole input."""

    began_s: float
    points: list[Point]
    note: str

    def rate_from(self, share: float) -> float:
        """From the first point at or above this share of the input to the end."""
        last = self.points[-1]
        first = next(each for each in self.points if each.records >= share * last.records)
        if first is last:
            return float("nan")  # all in one commit: more records or smaller batches are needed
        return (last.records - first.records) / (last.at_s - first.at_s)

    def whole_s(self) -> float:
        return self.points[-1].at_s - self.began_s


@dataclass(frozen=True, kw_only=True)
class Order:
    """One run to make."""

    cluster: LocalCluster
    scratch: Path
    input: str
    output: str
    records: int
    asked: argparse.Namespace


def run_spark(order: Order) -> Course:
    began = time.time()
    log = order.scratch / "spark_fold.log"
    child = spawn(
        "spark_fold",
        [
            *(sys.executable, str(BESIDE / "spark_fold.py")),
            *("--bootstrap", order.cluster.bootstrap("suspects")),
            *("--input", order.input, "--output", order.output),
            *("--scratch", str(order.scratch), "--threads", str(order.asked.threads)),
            *("--lanes", str(order.asked.lanes)),
            *("--batch-records", str(order.asked.batch_records + CRUMBS)),
        ],
        log=log,
    )
    try:
        wait_until(lambda: not child.is_running(), Deadline(RUN_S_MAX), "Spark is too slow")
        if child.exit_code() != 0:
            raise SystemExit(f"spark_fold failed: {child.log_tail()}")
    finally:
        child.kill()
    batches = [BatchTime(**each) for each in json.loads(log.read_text().splitlines()[-1])]
    points: list[Point] = []
    for batch in batches:
        before = points[-1].records if points else 0
        points.append(Point(at_s=batch.ended_s, records=before + batch.rows))
    note = f"warm batches {warm_rate(batches):,.0f}/s; batches {seconds_of(batches)} s"
    return Course(began_s=began, points=points, note=note)


def run_streams(order: Order) -> Course:
    began = time.time()
    child = spawn("StreamsFold", _streams_command(order), log=order.scratch / "streams.log")
    try:
        points = _follow(child, order)
    finally:
        child.stop(Deadline(STOP_S_MAX))
    events = [json.loads(line) for line in child.log.read_text().splitlines() if '"at_ms"' in line]
    at = {each["event"]: each["at_ms"] / 1000 - began for each in reversed(events)}
    note = f"running after {at['running']:.1f} s, first record after {at['first record']:.1f} s"
    return Course(began_s=began, points=points, note=note)


def _streams_command(order: Order) -> list[str]:
    asked = order.asked
    return [
        *(str(find_java().executable), "-Xmx2g", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"),
        *("-cp", ":".join(str(jar) for jar in jars.classpath(STREAMS_SET))),
        *(str(BESIDE / "StreamsFold.java"), order.cluster.bootstrap("suspects")),
        *(order.input, order.output, _group(order), str(order.scratch / "state")),
        *(str(asked.threads), str(asked.commit_ms), str(asked.cache_mb * 1024 * 1024)),
    ]


def _group(order: Order) -> str:
    return f"streams-{order.output}"


def _follow(child: Child, order: Order) -> list[Point]:
    """Ask for the group's committed offsets until they are at the end of the input."""
    points: list[Point] = []

    def at_the_end() -> bool:
        if not child.is_running():
            raise SystemExit(f"StreamsFold ended: {child.log_tail()}")
        with contextlib.suppress(ClusterError):  # there is no group yet
            offsets = topics.committed_offsets(order.cluster.client(), _group(order), order.input)
            committed = sum(offsets.values())
            if committed > (points[-1].records if points else 0):
                points.append(Point(at_s=time.time(), records=committed))
            return committed >= order.records
        return False

    wait_until(at_the_end, Deadline(RUN_S_MAX), "Streams is too slow", pause_s=LOOK_EVERY_S)
    return points
