"""What the benches of the sink share: three brokers, a Spark session, input topics, tables.

    Spark writes N records once ──▶ input topic ──▶ stream under measurement ──▶ output topic
                                                     └─▶ StreamingQueryProgress ──▶ BatchTime

Brokers and Spark run with the flags a user would start them with, not with the lab's: the lab's
are made for runs of minutes, and here the second compiler may earn what it costs.
"""

import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamWriter

from onceproof import jars
from onceproof.cluster import topics
from onceproof.cluster.local import LocalCluster
from onceproof.jars.spark_jvm import CONNECTOR_SET
from onceproof.process import ensure_ward
from onceproof.sink import ExactlyOnceKafka

PARTITIONS = 4
KEY_DIGITS = 8
NUMBER_DIGITS = 12
BROKER_FLAGS = ("-Xmx1G", "-Xms1G", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20")
HEX_DIGITS = 16
FIELD_NAMES = (
    "customer_id",
    "session_token",
    "shipping_address",
    "order_reference",
    "payment_method",
    "warehouse_location",
    "promotion_code",
    "correlation_id",
)
FEED_OPTIONS = {"kafka.linger.ms": "20", "kafka.batch.size": "1000000"}
LZ4 = {"kafka.compression.type": "lz4"}
# After each poll Spark's source asks where the partition begins and ends: 500 records are few for
# that. The answer comes behind the fetch that waits for more, which at the end of a topic takes
# its whole 500 ms: a second of the last batch, and of each small one.
READ_TUNED = {"kafka.max.poll.records": "100000", "kafka.fetch.max.wait.ms": "50"}
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
EXIT_S_MAX = 60.0
# A number and a length, to a value of that length that opens with the number.
Filling = Callable[[Column, int], Column]
# Spark shares a batch's records out to partitions and rounds down: without a few more than its
# share the last batch would be followed by one of crumbs.
CRUMBS = 100


@dataclass(frozen=True, kw_only=True)
class BatchTime:
    """One micro-batch by Spark's own account: rows read, and the whole trigger's seconds."""

    rows: int
    seconds: float
    ended_s: float  # since the epoch


@dataclass(frozen=True, kw_only=True)
class Stage:
    cluster: LocalCluster
    spark: SparkSession
    scratch: Path
    jvm_pid: int

    def new_topic(self, name: str) -> str:
        """A topic whose files are gone soon after it is deleted: copies fill disks."""
        topics.create_topic(
            self.cluster.client(),
            name,
            partitions=PARTITIONS,
            config={"file.delete.delay.ms": "1000"},
        )
        return name

    def drop_topic(self, name: str) -> None:
        topics.delete_topic(self.cluster.client(), name)

    def records_in(self, topic: str) -> int:
        return sum(topics.end_offsets(self.cluster.client(), topic).values())

    def client_options(self) -> dict[str, str]:
        return {"kafka.bootstrap.servers": self.cluster.bootstrap("suspects")}

    def feed(
        self,
        topic: str,
        *,
        records: int,
        record_bytes: int,
        keys: int,
        filling: Filling | None = None,
    ) -> None:
        began = time.monotonic()
        write_input(
            self.spark,
            self.new_topic(topic),
            self.client_options(),
            records=records,
            record_bytes=record_bytes,
            keys=keys,
            filling=filling or own_hash_repeated,
        )
        say(f"{topic}: {records} records of {record_bytes} bytes in {_since(began):.0f} s")

    def read(self, topic: str, **options: Any) -> DataFrame:
        source = self.spark.readStream.format("kafka").options(**self.client_options())
        return source.options(subscribe=topic, startingOffsets="earliest").options(**options).load()

    def run_to_the_end(self, writer: DataStreamWriter) -> list[BatchTime]:
        return run_to_the_end(writer, self.scratch)


def run_to_the_end(writer: DataStreamWriter, scratch: Path) -> list[BatchTime]:
    """Let a stream read all that is there, with a checkpoint of its own."""
    checkpoint = tempfile.mkdtemp(prefix="checkpoint-", dir=scratch)
    query = writer.option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
    query.awaitTermination()
    return [_batch_time(each) for each in query.recentProgress if each["numInputRows"]]


def _batch_time(progress: Mapping[str, Any]) -> BatchTime:
    seconds = progress["durationMs"]["triggerExecution"] / 1000
    began = datetime.fromisoformat(progress["timestamp"]).timestamp()
    return BatchTime(rows=progress["numInputRows"], seconds=seconds, ended_s=began + seconds)


@contextlib.contextmanager
def sink_stage(master: str, **spark_settings: str) -> Iterator[Stage]:
    with (
        scratch_directory() as scratch,
        three_brokers(scratch) as cluster,
        spark_session(master, scratch, **spark_settings) as (session, jvm_pid),
    ):
        yield Stage(cluster=cluster, spark=session, scratch=scratch, jvm_pid=jvm_pid)


@contextlib.contextmanager
def scratch_directory() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="onceproof-bench-") as folder:
        yield Path(folder)


def three_brokers(scratch: Path) -> LocalCluster:
    say("three brokers start")
    return LocalCluster.start(
        directory=scratch / "brokers", logs=scratch / "logs", jvm_flags=BROKER_FLAGS
    )


@contextlib.contextmanager
def spark_session(
    master: str, scratch: Path, **settings: str
) -> Iterator[tuple[SparkSession, int]]:
    """A session with Spark's own JVM flags, and its JVM's pid; its log goes to a file."""
    ensure_ward()  # before the JVM: it must carry our mark
    os.environ["PYSPARK_PYTHON"] = sys.executable
    conf = SparkConf().setAll([*_configuration(master, scratch).items(), *settings.items()])
    logs = scratch / "logs"
    logs.mkdir(exist_ok=True)
    with (logs / "spark.log").open("ab") as log:
        gateway: Any = launch_gateway(conf, {"stdout": log, "stderr": log})  # type: ignore[no-untyped-call]
    session = SparkSession(SparkContext(conf=conf, gateway=gateway))
    session.sparkContext.setLogLevel("ERROR")
    try:
        yield session, gateway.proc.pid
    finally:
        session.stop()
        gateway.shutdown()
        gateway.proc.stdin.close()  # the JVM ends when this end of the pipe is closed
        with contextlib.suppress(subprocess.TimeoutExpired):
            gateway.proc.wait(timeout=EXIT_S_MAX)
        SparkContext._gateway = None  # a later session starts a JVM of its own
        SparkContext._jvm = None


def _configuration(master: str, scratch: Path) -> dict[str, str]:
    return {
        "spark.app.name": "onceproof bench",
        "spark.master": master,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "2g",
        "spark.driver.extraClassPath": os.pathsep.join(map(str, jars.classpath(CONNECTOR_SET))),
        "spark.local.dir": str(scratch / "spark"),
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.sql.shuffle.partitions": str(PARTITIONS),
        "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    }


def write_input(
    spark: SparkSession,
    topic: str,
    options: Mapping[str, str],
    *,
    records: int,
    record_bytes: int,
    keys: int,
    filling: Filling,
) -> None:
    """Records of key and value together `record_bytes` long; a value opens with a number."""
    rows = spark.range(0, records, 1, PARTITIONS).select(
        F.lpad(F.pmod(F.xxhash64("id"), F.lit(keys)).cast("string"), KEY_DIGITS, "0").alias("key"),
        filling(F.col("id"), record_bytes - KEY_DIGITS).alias("value"),
    )
    settings = {**FEED_OPTIONS, **LZ4, **options, "topic": topic}
    rows.write.format("kafka").options(**settings).save()


def own_hash_repeated(number: Column, length: int) -> Column:
    """Neither noise nor one letter for lz4, but easier by length: 1 KB shrinks to a twelfth."""
    return F.rpad(_digits(number), length, F.sha2(number.cast("string"), 256))


def one_letter(number: Column, length: int) -> Column:
    return F.rpad(_digits(number), length, "x")


def json_fields(number: Column, length: int) -> Column:
    """As records in the field: names that repeat from record to record, and values that do not."""
    parts: list[Column] = [_digits(number), F.lit("{")]
    for place in range(length // len(_field_of(0)) + 1):
        before, after = _field_of(place).split("0" * HEX_DIGITS)
        own = F.lpad(F.hex(F.xxhash64(number, F.lit(place))), HEX_DIGITS, "0")
        parts += [F.lit(before), own, F.lit(after)]
    return F.substring(F.concat(*parts), 1, length)


def _field_of(place: int) -> str:
    return f'"{FIELD_NAMES[place % len(FIELD_NAMES)]}":"{"0" * HEX_DIGITS}",'


def _digits(number: Column) -> Column:
    return F.lpad(number.cast("string"), NUMBER_DIGITS, "0")


def number_of(value: str) -> Any:
    """The number a value opens with, as a column."""
    return F.substring(F.col(value).cast("string"), 1, NUMBER_DIGITS).cast("long")


def warm_rate(batches: Sequence[BatchTime]) -> float:
    """Records a second over all batches but the first, which pays for the start of the query."""
    warm = batches[1:] or batches
    return sum(batch.rows for batch in warm) / sum(batch.seconds for batch in warm)


def seconds_of(batches: Sequence[BatchTime]) -> str:
    return " ".join(f"{batch.seconds:.2f}" for batch in batches)


def slowest_lanes(sink: ExactlyOnceKafka) -> dict[str, float]:
    """The slowest lane's milliseconds in each step of the last batch, whatever steps there are."""
    reports = [asdict(report) for report in sink.last_reports]
    steps = [name for name in reports[0] if name.endswith("_ms")]
    return {step.removesuffix("_ms"): max(report[step] for report in reports) for step in steps}


def percentile(values: Sequence[float], percent: int) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


def say(line: str) -> None:
    """What happens meanwhile; the results alone go to stdout."""
    sys.stderr.write(f"{line}\n")


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Markdown on stdout."""
    lines = [columns, ["---"] * len(columns), *rows]
    text = "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)
    sys.stdout.write(f"\n{title}\n\n{text}\n")
    sys.stdout.flush()


def _since(began: float) -> float:
    return time.monotonic() - began
