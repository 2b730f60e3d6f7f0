"""The program: `python -m onceproof.suspects.spark.job exactly_once|builtin`, by the contract.

It knows nothing of the trial: the environment tells it where to read and write, SIGTERM ends it,
and it prints a JSON line for each batch it has committed.
"""

import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onceproof.sink import exactly_once_kafka
from onceproof.suspects.environment import (
    SETTINGS_VARIABLE,
    SPARK_CLASSPATH_VARIABLE,
    SPARK_JAVA_OPTIONS_VARIABLE,
    is_spare,
    wait_at_the_door,
)
from onceproof.suspects.spark.warmth import warm_up

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
POLL_S = 0.2
Batches = Callable[["DataFrame", int], None]


def main() -> int:
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    settings = json.loads(os.environ[SETTINGS_VARIABLE])
    session = _session(settings)
    if is_spare():
        warm_up(session, Path(os.environ["ONCEPROOF_STATE_DIR"]))
    wait_at_the_door(stop.is_set)
    if stop.is_set():
        return 0
    query = _start(session, sys.argv[1], settings)
    _say("started", query=query.id)
    while query.isActive and not stop.wait(POLL_S):
        pass
    failure = query.exception()
    query.stop()
    _end_jvm(session)
    if failure is not None:
        sys.stderr.write(f"{failure}\n")
        return 1
    _say("stopped")
    return 0


def _end_jvm(session: "SparkSession") -> None:
    """Wait for the JVM: one that is ended in order may leave a class-data archive behind."""
    gateway: Any = session.sparkContext._gateway
    session.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait()


def _say(event: str, **facts: object) -> None:
    sys.stdout.write(json.dumps({"event": event, **facts}) + "\n")
    sys.stdout.flush()


def _session(settings: dict[str, str]) -> "SparkSession":
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable  # workers need the sink's dependencies too
    parallelism = settings["parallelism"]
    state_dir = Path(os.environ["ONCEPROOF_STATE_DIR"])
    builder = (
        SparkSession.builder.appName(os.environ["ONCEPROOF_APP_ID"])
        # A failed task is tried again, as on a cluster; plain local[n] would not.
        .master(f"local[{parallelism},4]")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "1g")
        .config("spark.driver.extraClassPath", os.environ[SPARK_CLASSPATH_VARIABLE])
        .config("spark.driver.extraJavaOptions", os.environ[SPARK_JAVA_OPTIONS_VARIABLE])
        .config("spark.local.dir", str(state_dir / "scratch"))
        .config("spark.sql.shuffle.partitions", parallelism)
        .config("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
        .config("spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled", "true")
    )
    session: SparkSession = builder.getOrCreate()
    session.sparkContext.setLogLevel("WARN")
    return session


def _start(session: "SparkSession", sink: str, settings: dict[str, str]) -> "StreamingQuery":
    from onceproof.suspects.spark.pipelines import PIPELINES

    transform, output_mode = PIPELINES[os.environ["ONCEPROOF_WORKLOAD"]]
    source = (
        session.readStream.format("kafka")
        .option("kafka.bootstrap.servers", os.environ["ONCEPROOF_BOOTSTRAP_SERVERS"])
        .option("kafka.isolation.level", "read_committed")
        # Spark asks where a partition ends after each poll, and is answered behind the fetch that
        # waits for more (500 ms): each task that has caught up would stand still for so long.
        .option("kafka.fetch.max.wait.ms", "50")
        .option("subscribe", os.environ["ONCEPROOF_INPUT_TOPIC"])
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", settings["max_offsets_per_trigger"])
        .load()
    )
    checkpoint = Path(os.environ["ONCEPROOF_STATE_DIR"]) / "checkpoint"
    writer = (
        transform(source)
        .writeStream.outputMode(output_mode)
        .option("checkpointLocation", str(checkpoint))
    )
    query: StreamingQuery = SINKS[sink](writer, settings).start()
    return query


def _with_our_sink(writer: "DataStreamWriter", settings: dict[str, str]) -> "DataStreamWriter":
    timeout = os.environ["ONCEPROOF_TRANSACTION_TIMEOUT_MS"]
    sink = exactly_once_kafka(
        sink_id=os.environ["ONCEPROOF_APP_ID"],
        topic=os.environ["ONCEPROOF_OUTPUT_TOPIC"],
        lanes=int(settings["lanes"]),
        small_batch_bytes=int(settings["small_batch_bytes"]),
        small_lane_bytes=int(settings["small_lane_bytes"]),
        jvm=settings["jvm"] == "true",
        options={
            "kafka.bootstrap.servers": os.environ["ONCEPROOF_BOOTSTRAP_SERVERS"],
            "kafka.transaction.timeout.ms": timeout,
        },
    )

    def write(batch: "DataFrame", batch_id: int) -> None:
        sink(_in_order(batch), batch_id)
        lanes = sink.last_reports
        _say(
            "committed",
            batch=batch_id,
            rows=sum(lane.rows for lane in lanes),
            writer=sink.last_batch.writer if sink.last_batch else None,
            fence_ms_max=round(max(lane.fence_ms for lane in lanes)),
            read_ms_max=round(max(lane.read_ms for lane in lanes)),
            commit_ms_max=round(max(lane.commit_ms for lane in lanes)),
        )

    return writer.foreachBatch(write)


def _with_spark_sink(writer: "DataStreamWriter", _settings: dict[str, str]) -> "DataStreamWriter":
    options = {
        "kafka.bootstrap.servers": os.environ["ONCEPROOF_BOOTSTRAP_SERVERS"],
        "topic": os.environ["ONCEPROOF_OUTPUT_TOPIC"],
    }

    def write(batch: "DataFrame", _batch_id: int) -> None:
        _in_order(batch).write.format("kafka").options(**options).save()

    if os.environ["ONCEPROOF_WORKLOAD"] == "dedup":
        return writer.foreachBatch(write)  # a stream cannot be sorted, a batch can
    return writer.format("kafka").options(**options)


def _in_order(batch: "DataFrame") -> "DataFrame":
    """Give each key's records back their order where the query says what it was."""
    if "place" not in batch.columns:
        return batch
    ordered = batch.repartition("key").sortWithinPartitions("place")
    return ordered.drop("place")


SINKS: dict[str, Any] = {"exactly_once": _with_our_sink, "builtin": _with_spark_sink}

if __name__ == "__main__":
    sys.exit(main())
