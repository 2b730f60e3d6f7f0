"""Memory of those who write: one batch of 1 M, 5 M, 20 M records through our sink.

    one input topic ──last N records, one micro-batch──▶ copy ──▶ output topic
                      every 0.2 s: resident memory of all Python workers of this session's JVM

Flat means: the peak of the largest batch is within 20 % of the peak of the smallest. Sizes go up,
in one session, so what a smaller batch left behind counts against the larger one.

Lanes are written by Spark's own JVM, or with --python by Python workers. The JVM has a small heap
there, all of it touched at the start: what a batch holds on to does not fit, and what it holds
elsewhere is seen to grow.

    python bench/sink_memory.py [--sizes 1000000 5000000 20000000] [--record-bytes 100] [--python]
"""

import argparse
import contextlib
import json
import threading
from collections.abc import Iterator
from pathlib import Path

from sink_stage import PARTITIONS, Stage, say, sink_stage, table

from onceproof.cluster import topics
from onceproof.sink import exactly_once_kafka

KEYS = 100_000
FLAT_WITHIN = 1.2
LOOK_EVERY_S = 0.2
TRANSACTION_TIMEOUT_MS = 900_000  # the brokers' maximum: a slow machine shall not end the bench
MIB = 1024  # in kB, as /proc counts
SMALL_HEAP = {
    "spark.driver.memory": "768m",
    "spark.driver.extraJavaOptions": "-Xms768m -XX:+AlwaysPreTouch",
}


class WorkerMemory:
    """Peaks since it was entered, of the Python processes below a JVM and of the JVM itself."""

    def __init__(self, jvm_pid: int) -> None:
        self._jvm_pid = jvm_pid
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.processes_max = 0
        self.sum_kb_max = 0
        self.largest_kb_max = 0
        self.jvm_kb_max = 0

    def __enter__(self) -> "WorkerMemory":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(LOOK_EVERY_S):
            held = [resident_kb(pid) for pid in descendants(self._jvm_pid)]
            self.processes_max = max(self.processes_max, len(held))
            self.sum_kb_max = max(self.sum_kb_max, sum(held))
            self.largest_kb_max = max(self.largest_kb_max, *held, 0)
            self.jvm_kb_max = max(self.jvm_kb_max, resident_kb(self._jvm_pid))


def descendants(pid: int) -> Iterator[int]:
    """Python's daemon and the workers it forked; a local JVM has no other children."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            for child in (thread / "children").read_text().split():
                yield int(child)
                yield from descendants(int(child))


def resident_kb(pid: int) -> int:
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
    return 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", nargs="+", type=int, default=[1_000_000, 5_000_000, 20_000_000])
    parser.add_argument("--record-bytes", type=int, default=100)
    parser.add_argument("--lanes", type=int, default=4)
    parser.add_argument("--python", action="store_true", help="lanes by Python workers")
    asked = parser.parse_args()
    sizes = sorted(asked.sizes)
    with sink_stage("local[2]", **({} if asked.python else SMALL_HEAP)) as stage:
        spare = PARTITIONS * 10_000  # keys do not fall evenly on partitions
        stage.feed(
            "in", records=sizes[-1] * 21 // 20 + spare, record_bytes=asked.record_bytes, keys=KEYS
        )
        measured = [(size, *copy(stage, size, asked.lanes, not asked.python)) for size in sizes]
    if not report(measured, not asked.python):
        raise SystemExit(1)


def copy(stage: Stage, records: int, lanes: int, jvm: bool) -> tuple[WorkerMemory, float]:
    output = stage.new_topic(f"out-{records}")
    options = {
        **stage.client_options(),
        "kafka.transaction.timeout.ms": str(TRANSACTION_TIMEOUT_MS),
    }
    sink = exactly_once_kafka(
        sink_id=f"to-{output}", topic=output, lanes=lanes, options=options, jvm=jvm
    )
    source = stage.read("in", startingOffsets=_last(stage, records)).select("key", "value")
    with WorkerMemory(stage.jvm_pid) as memory:
        (batch,) = stage.run_to_the_end(source.writeStream.foreachBatch(sink))
    if batch.rows != records:
        raise SystemExit(f"the batch had {batch.rows} records; expected {records}")
    assert sink.last_batch is not None
    if sink.last_batch.writer != ("jvm" if jvm else "python"):
        raise SystemExit(f"the batch was written by {sink.last_batch.writer}")
    stage.drop_topic(output)
    say(f"{records} records: {batch.seconds:.1f} s, {memory.sum_kb_max / MIB:.0f} MiB")
    return memory, batch.seconds


def _last(stage: Stage, records: int) -> str:
    """Spark's startingOffsets that leave exactly so many records to the end."""
    ends = topics.end_offsets(stage.cluster.client(), "in")
    starts = {str(partition): end - records // PARTITIONS for partition, end in ends.items()}
    return json.dumps({"in": starts})


def report(measured: list[tuple[int, WorkerMemory, float]], jvm: bool) -> bool:
    """Whether it is flat."""

    def judged(memory: WorkerMemory) -> int:
        return memory.jvm_kb_max if jvm else memory.sum_kb_max

    smallest = measured[0][1]
    table(
        "**one batch, copy**: peak resident memory in MiB",
        [
            "records",
            "Python processes",
            "all of them",
            "largest",
            "JVM",
            "who writes, against the smallest batch",
            "seconds",
        ],
        [
            [
                f"{records:,}",
                memory.processes_max,
                f"{memory.sum_kb_max / MIB:.0f}",
                f"{memory.largest_kb_max / MIB:.0f}",
                f"{memory.jvm_kb_max / MIB:.0f}",
                f"{judged(memory) / judged(smallest):.2f}×",
                f"{seconds:.1f}",
            ]
            for records, memory, seconds in measured
        ],
    )
    growth = judged(measured[-1][1]) / judged(smallest)
    is_flat = growth <= FLAT_WITHIN
    verdict = "flat" if is_flat else "not flat"
    say(f"{verdict}: {growth:.2f}× from {measured[0][0]:,} to {measured[-1][0]:,} records")
    return is_flat


if __name__ == "__main__":
    main()
