"""What the user gave, checked once on the driver, and the librdkafka configuration made of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from onceproof.sink.client import connection_settings, translate
from onceproof.sink.errors import SinkError

TRANSACTION_TIMEOUT_MS_DEFAULT = 60_000
LANES_DEFAULT = 4
SMALL_LANE_BYTES_DEFAULT = 64 * 1024
SMALL_BATCH_BYTES_DEFAULT = 16 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Goes to executors with every task, so it is plain data, and it can be a key."""

    sink_id: str
    topic: str | None
    lanes: int
    ledger_topic: str
    client: tuple[tuple[str, str], ...] = field(repr=False)  # may hold secrets
    options: tuple[tuple[str, str], ...] = field(default=(), repr=False)  # as the user gave them
    transaction_timeout_ms: int = TRANSACTION_TIMEOUT_MS_DEFAULT
    takeover: bool = False
    adopt: bool = False
    small_lane_bytes: int = SMALL_LANE_BYTES_DEFAULT
    small_batch_bytes: int = SMALL_BATCH_BYTES_DEFAULT
    fast: bool = True
    jvm: bool = True
    connect_to_all: bool = False  # ahead, where there are few brokers

    def driver_transactional_id(self) -> str:
        return f"{self.sink_id}-driver"

    def lane_transactional_id(self, lane: int) -> str:
        return f"{self.sink_id}-lane-{lane}"

    def producer(self, transactional_id: str) -> dict[str, str]:
        """Java's partitioner, so that a key stays on its partition when people migrate."""
        return {
            # Full batches cost brokers half as much; a commit flushes at once, so nobody waits.
            "linger.ms": "200",
            "batch.num.messages": "100000",
            "partitioner": "murmur2_random",
            # Bounds the memory of a lane; the default is a gigabyte.
            "queue.buffering.max.kbytes": "65536",
            "queue.buffering.max.messages": "200000",
            # Java's default: a replay must be able to write what Spark's JVM wrote.
            "message.max.bytes": "1048576",
            **dict(self.client),
            "transactional.id": transactional_id,
            "transaction.timeout.ms": str(self.transaction_timeout_ms),
            "acks": "all",
            "enable.sparse.connections": "false" if self.connect_to_all else "true",
        }

    def reader(self, isolation_level: str) -> dict[str, str | int | float | bool]:
        return {
            **self.admin(),
            "group.id": f"{self.sink_id}-ledger-reader",  # never joined: partitions are assigned
            "enable.auto.commit": False,
            "isolation.level": isolation_level,
            "enable.partition.eof": True,
            "fetch.wait.max.ms": "20",
            "auto.offset.reset": "earliest",  # the log may be cleaned under us: never skip
        }

    def admin(self) -> dict[str, str | int | float | bool]:
        return dict(connection_settings(dict(self.client)))


def make_settings(
    *,
    sink_id: str,
    topic: str | None,
    options: Mapping[str, str],
    lanes: int,
    ledger_topic: str | None,
    takeover: bool,
    adopt: bool,
    small_lane_bytes: int,
    small_batch_bytes: int,
    fast: bool,
    jvm: bool = True,
) -> Settings:
    if not sink_id:
        raise SinkError("sink_id must be a name that stays the same over restarts; got nothing")
    if lanes < 1:
        raise SinkError(f"lanes must be 1 or more; got {lanes}")
    if small_lane_bytes < 0:
        raise SinkError(f"small_lane_bytes must be 0 or more; got {small_lane_bytes}")
    if small_batch_bytes < 0:
        raise SinkError(f"small_batch_bytes must be 0 or more; got {small_batch_bytes}")
    client = translate(options)
    if "bootstrap.servers" not in client:
        raise SinkError('options must have "kafka.bootstrap.servers"; got ' + ", ".join(options))
    timeout = int(client.pop("transaction.timeout.ms", TRANSACTION_TIMEOUT_MS_DEFAULT))
    return Settings(
        sink_id=sink_id,
        topic=topic,
        lanes=lanes,
        ledger_topic=ledger_topic or f"{sink_id}.ledger",
        client=tuple(sorted(client.items())),
        options=tuple(sorted((name, str(value)) for name, value in options.items())),
        transaction_timeout_ms=timeout,
        takeover=takeover,
        adopt=adopt,
        small_lane_bytes=small_lane_bytes,
        small_batch_bytes=small_batch_bytes,
        fast=fast,
        jvm=jvm,
    )
