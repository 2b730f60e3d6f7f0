"""What the user gave, checked once on the driver, and the librdkafka configuration made of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from onceproof.sink.errors import SinkError

TRANSACTION_TIMEOUT_MS_DEFAULT = 60_000
LANES_DEFAULT = 4
# Set by the sink itself: a user's value would break the protocol.
_OWN = {"transactional.id", "enable.idempotence", "acks", "group.id", "isolation.level"}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Goes to executors with every task, so it is plain data."""

    sink_id: str
    topic: str | None
    lanes: int
    ledger_topic: str
    client: Mapping[str, str] = field(repr=False)  # may hold secrets
    transaction_timeout_ms: int = TRANSACTION_TIMEOUT_MS_DEFAULT
    takeover: bool = False
    adopt: bool = False

    def driver_transactional_id(self) -> str:
        return f"{self.sink_id}-driver"

    def lane_transactional_id(self, lane: int) -> str:
        return f"{self.sink_id}-lane-{lane}"

    def producer(self, transactional_id: str) -> dict[str, Any]:
        """Java's partitioner, so that a key stays on its partition when people migrate."""
        return {
            "linger.ms": 5,
            "partitioner": "murmur2_random",
            **self.client,
            "transactional.id": transactional_id,
            "transaction.timeout.ms": self.transaction_timeout_ms,
            "acks": "all",
        }

    def reader(self, isolation_level: str) -> dict[str, Any]:
        shared = {name: value for name, value in self.client.items() if _for_readers(name)}
        return {
            **shared,
            "group.id": f"{self.sink_id}-ledger-reader",  # never joined: partitions are assigned
            "enable.auto.commit": False,
            "isolation.level": isolation_level,
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 20,
            "auto.offset.reset": "earliest",  # the log may be cleaned under us: never skip
        }

    def admin(self) -> dict[str, Any]:
        return {name: value for name, value in self.client.items() if _for_readers(name)}


def _for_readers(name: str) -> bool:
    """Connection and security settings; not those of producing."""
    return name.startswith(("bootstrap.", "security.", "sasl.", "ssl.", "socket.", "client."))


def make_settings(
    *,
    sink_id: str,
    topic: str | None,
    options: Mapping[str, str],
    lanes: int,
    ledger_topic: str | None,
    takeover: bool,
    adopt: bool,
) -> Settings:
    if not sink_id:
        raise SinkError("sink_id must be a name that stays the same over restarts; got nothing")
    if lanes < 1:
        raise SinkError(f"lanes must be 1 or more; got {lanes}")
    client = dict(_client_settings(options))
    if "bootstrap.servers" not in client:
        raise SinkError('options must have "kafka.bootstrap.servers"; got ' + ", ".join(options))
    timeout = int(client.pop("transaction.timeout.ms", TRANSACTION_TIMEOUT_MS_DEFAULT))
    return Settings(
        sink_id=sink_id,
        topic=topic,
        lanes=lanes,
        ledger_topic=ledger_topic or f"{sink_id}.ledger",
        client=client,
        transaction_timeout_ms=timeout,
        takeover=takeover,
        adopt=adopt,
    )


def _client_settings(options: Mapping[str, str]) -> list[tuple[str, str]]:
    """Spark's way of naming client settings: the client's own name behind `kafka.`."""
    settings = []
    for name, value in options.items():
        if not name.startswith("kafka."):
            raise SinkError(f"unknown option {name!r}; client settings begin with 'kafka.'")
        plain = name.removeprefix("kafka.")
        if plain in _OWN:
            raise SinkError(f"option {name!r} is set by the sink itself; leave it out")
        settings.append((plain, str(value)))
    return settings
