"""How long a stateful consumer takes to be back, with full snapshots and without.

    input ──▶ consumer_own_offsets (fold) ──▶ output        until all is processed, then SIGTERM
    one more record ──▶ started again ──▶ its output: seconds from the start of the process

Without snapshots the state is folded again from the first record on; with them from the last
snapshot on. The same program, the same cluster, in turns.

    python bench/snapshot_restart.py [--records 100000 1000000] [--rounds 3]
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import Producer
from sink_stage import say, table

from onceproof.cluster import topics
from onceproof.cluster.local import LocalCluster
from onceproof.process import ensure_ward
from onceproof.suspects.environment import Assignment, for_process

KEYS = 1_000
WAYS = {"full snapshots": "20000", "none": "1000000000"}  # records between two of them
PROGRAM = (sys.executable, "-m", "onceproof.suspects.consumers", "own_offsets")
CALL_S = 60.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    ensure_ward()
    seconds: dict[tuple[str, int], float] = {}
    with tempfile.TemporaryDirectory(prefix="onceproof-bench-") as scratch:
        folder = Path(scratch)
        with LocalCluster.start(directory=folder / "brokers", logs=folder, brokers=1) as cluster:
            for records in asked.records:
                for way, every in WAYS.items():
                    stage = Stage(cluster, f"{len(seconds)}", every, folder)
                    stage.process(records)
                    times = [stage.restart() for _ in range(asked.rounds)]
                    seconds[way, records] = statistics.median(times)
                    say(f"{way}, {records:,}: {', '.join(f'{each:.2f} s' for each in times)}")
    few, many = min(asked.records), max(asked.records)
    rows = [
        [
            way,
            *(f"{seconds[way, n]:.2f} s" for n in asked.records),
            f"{_growth(seconds, way, few, many):.2f}×",
        ]
        for way in WAYS
    ]
    table("Seconds until back", ["", *(f"after {n:,}" for n in asked.records), "growth"], rows)


def _growth(seconds: dict[tuple[str, int], float], way: str, few: int, many: int) -> float:
    return seconds[way, many] / seconds[way, few]


class Stage:
    """Topics and an application of their own."""

    def __init__(self, cluster: LocalCluster, name: str, snapshot_every: str, folder: Path) -> None:
        self._app = f"restart-{name}"
        self._server = cluster.bootstrap("suspects")
        for topic in ("in", "out", "offsets", "snapshots"):
            topics.create_topic(cluster.client(), f"{self._app}-{topic}", partitions=1)
        self._assignment = Assignment(
            bootstrap_servers=self._server,
            input_topic=f"{self._app}-in",
            output_topic=f"{self._app}-out",
            app_id=self._app,
            workload="fold",
            state_root=folder / self._app,
            transaction_timeout_ms=60_000,
            settings={"batch": "5000", "snapshot_every": snapshot_every},
        )
        self._producer = Producer({"bootstrap.servers": self._server, "linger.ms": 20})
        self._fed = 0

    def process(self, records: int) -> None:
        self._feed(records)
        with self._running() as said:
            self._wait_for(said, records)

    def restart(self) -> float:
        """Until the record that came meanwhile is committed."""
        self._feed(1)
        began = time.monotonic()
        with self._running() as said:
            self._wait_for(said, 1)
            return time.monotonic() - began

    def _feed(self, records: int) -> None:
        for number in range(self._fed, self._fed + records):
            value = json.dumps({"id": f"0#{number}", "value": number})
            while True:
                try:
                    self._producer.produce(
                        self._assignment.input_topic, key=f"key-{number % KEYS}", value=value
                    )
                    break
                except BufferError:
                    self._producer.poll(0.1)
        self._producer.flush(CALL_S)
        self._fed += records

    @contextmanager
    def _running(self) -> Iterator[Iterator[dict[str, object]]]:
        process = subprocess.Popen(
            PROGRAM, env=for_process(self._assignment, 0), stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        try:
            yield (json.loads(line) for line in process.stdout)
        finally:
            process.terminate()
            process.communicate(timeout=CALL_S)

    def _wait_for(self, said: Iterator[dict[str, object]], records: int) -> None:
        done = 0
        for each in said:
            if each["event"] == "committed":
                done += int(str(each["records"]))
            if done >= records:
                return
        raise SystemExit(f"{self._app} ended after {done} of {records} records")


if __name__ == "__main__":
    main()
