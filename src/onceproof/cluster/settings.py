"""The properties of one broker, as text. Pure: everything it says follows from its arguments.

Each broker has four listeners, so that a fault on one kind of traffic leaves the others alone:

    suspects ──▶ (proxy) ──▶ SUSPECTS ┐
    injector, judge ────────▶ JUDGE    ├─ broker ── CONTROLLER ◀── (proxy) ◀── controllers
    brokers ───▶ (proxy) ──▶ INTERNAL ┘

Brokers are controllers, too, unless the controller is a process of its own: then it has that one
listener, and they have the other three.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from onceproof.cluster.ports import HOST

SUSPECTS, JUDGE, INTERNAL, CONTROLLER = "SUSPECTS", "JUDGE", "INTERNAL", "CONTROLLER"
LISTENERS = (SUSPECTS, JUDGE, INTERNAL, CONTROLLER)
ADVERTISED = (SUSPECTS, JUDGE, INTERNAL)

MEGABYTE = 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class BrokerPlan:
    """Where one broker lives. `advertised` are the addresses others are told, by listener."""

    id: int
    ports: Mapping[str, int]
    directory: Path
    advertised: Mapping[str, str] = field(default_factory=dict)
    is_controller: bool = False  # and no broker

    @property
    def name(self) -> str:
        return f"controller {self.id}" if self.is_controller else f"broker {self.id}"

    @property
    def data(self) -> Path:
        return self.directory / "data"

    @property
    def properties_file(self) -> Path:
        return self.directory / "server.properties"

    def bound(self, listener: str) -> str:
        return f"{HOST}:{self.ports[listener]}"

    def is_proxied(self, listener: str) -> bool:
        return self.address(listener) != self.bound(listener)

    def address(self, listener: str) -> str:
        return self.advertised.get(listener, self.bound(listener))


def broker_properties(
    plan: BrokerPlan, all_plans: list[BrokerPlan], overrides: Mapping[str, str]
) -> dict[str, str]:
    """All properties of one broker, or of the controller; `overrides` have the last word."""
    controllers = [each for each in all_plans if each.is_controller]
    return {
        **({} if plan.is_controller else identity(plan)),
        **quorum(plan, controllers or all_plans),
        **replication(len(all_plans) - len(controllers)),
        **FAILOVER_IN_SECONDS,
        **SMALL_FOOTPRINT,
        **overrides,
    }


def to_text(properties: Mapping[str, str]) -> str:
    """A .properties file: a backslash and a line end mean something in it, so they are escaped."""
    lines = [f"{name}={_escaped(value)}" for name, value in properties.items()]
    return "\n".join(lines) + "\n"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")


def identity(plan: BrokerPlan) -> dict[str, str]:
    """Of a broker: where clients and other brokers find it."""
    # Controllers tell each other where they are, too: past a proxy, unless they are told otherwise.
    advertised = [*ADVERTISED, *([CONTROLLER] if plan.is_proxied(CONTROLLER) else [])]
    return {
        "advertised.listeners": ",".join(f"{name}://{plan.address(name)}" for name in advertised),
        "inter.broker.listener.name": INTERNAL,
    }


def quorum(plan: BrokerPlan, controllers: list[BrokerPlan]) -> dict[str, str]:
    """Its part in the quorum: a controller, a broker that is one, or a broker."""
    is_voter = any(each.id == plan.id for each in controllers)
    roles = {"broker": not plan.is_controller, "controller": is_voter}
    bound = [*(() if plan.is_controller else ADVERTISED), *([CONTROLLER] if is_voter else [])]
    return {
        "process.roles": ",".join(role for role, has in roles.items() if has),
        "node.id": str(plan.id),
        "controller.quorum.voters": ",".join(
            f"{each.id}@{each.address(CONTROLLER)}" for each in controllers
        ),
        "listeners": ",".join(f"{name}://{plan.bound(name)}" for name in bound),
        "listener.security.protocol.map": ",".join(f"{name}:PLAINTEXT" for name in LISTENERS),
        "controller.listener.names": CONTROLLER,
        "log.dirs": str(plan.data),
    }


def replication(brokers: int) -> dict[str, str]:
    factor = str(min(brokers, 3))
    in_sync_min = "2" if brokers >= 3 else "1"
    return {
        "default.replication.factor": factor,
        "min.insync.replicas": in_sync_min,
        "offsets.topic.replication.factor": factor,
        "transaction.state.log.replication.factor": factor,
        "transaction.state.log.min.isr": in_sync_min,
        "share.coordinator.state.topic.replication.factor": factor,
        "share.coordinator.state.topic.min.isr": in_sync_min,
        "unclean.leader.election.enable": "false",
        "auto.create.topics.enable": "false",
    }


# A broker that stops answering is out after three seconds, and every wait on it ends soon after:
# markers and forwarded requests otherwise hang on a paused broker for 30 s.
FAILOVER_IN_SECONDS = {
    "broker.heartbeat.interval.ms": "200",
    "broker.session.timeout.ms": "3000",
    "controller.quorum.election.timeout.ms": "500",
    "controller.quorum.election.backoff.max.ms": "300",
    "controller.quorum.fetch.timeout.ms": "1500",
    "controller.quorum.request.timeout.ms": "1500",
    "controller.quorum.retry.backoff.ms": "20",
    "controller.quorum.append.linger.ms": "5",
    "controller.socket.timeout.ms": "3000",
    "request.timeout.ms": "5000",
    "replica.fetch.backoff.ms": "200",
    "replica.lag.time.max.ms": "5000",
    "replica.socket.timeout.ms": "5000",
    "controlled.shutdown.retry.backoff.ms": "500",
    # Groups and transactions of a dead member end soon after its own timeout.
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "1000",
    "group.consumer.session.timeout.ms": "10000",
    "group.consumer.min.session.timeout.ms": "1000",
    "group.consumer.heartbeat.interval.ms": "1000",
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.streams.session.timeout.ms": "10000",
    "group.streams.min.session.timeout.ms": "1000",
    "group.streams.heartbeat.interval.ms": "1000",
    "group.streams.min.heartbeat.interval.ms": "100",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "200",
}

SMALL_FOOTPRINT = {
    "num.network.threads": "2",
    "num.io.threads": "4",
    "background.threads": "2",
    "group.coordinator.threads": "1",
    "share.coordinator.threads": "1",
    "offsets.topic.num.partitions": "3",
    "offsets.topic.segment.bytes": str(4 * MEGABYTE),
    "transaction.state.log.num.partitions": "3",
    "transaction.state.log.segment.bytes": str(4 * MEGABYTE),
    "share.coordinator.state.topic.num.partitions": "1",
    "log.segment.bytes": str(128 * MEGABYTE),
    "log.index.size.max.bytes": str(MEGABYTE),
    # Kafka takes 128 MB for this at the start, a quarter of the heap.
    "log.cleaner.dedupe.buffer.size": str(4 * MEGABYTE),
    "log.cleaner.io.buffer.size": str(MEGABYTE // 4),
    "num.recovery.threads.per.data.dir": "1",
}
