"""From an order ("three brokers of 4.3.1 in this directory") to brokers that can be started."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from onceproof.cluster.broker import Broker, OnStart
from onceproof.cluster.classdata import Recording
from onceproof.cluster.jvm import JVM_FLAGS, BrokerSoftware
from onceproof.cluster.ports import HeldPorts
from onceproof.cluster.settings import (
    CONTROLLER,
    INTERNAL,
    LISTENERS,
    SUSPECTS,
    BrokerPlan,
    broker_properties,
    to_text,
)
from onceproof.cluster.template import copy_template, formatted_template, new_kafka_id
from onceproof.errors import ClusterError, UsageError

BROKERS_MAX = 5
CONTROLLER_ID = 100  # of one that is no broker
PROTOCOLS = "listener.security.protocol.map"
PROXIED = (SUSPECTS, INTERNAL, CONTROLLER)

# Asked with (broker id, listener, bound address) for each listener a proxy may stand before;
# answers the address to advertise.
Advertise = Callable[[int, str, str], str]


@dataclass(frozen=True, kw_only=True)
class ClusterOrder:
    """What was asked for."""

    software: BrokerSoftware
    brokers: int
    controller_apart: bool = False  # a process of its own: the quorum lives when brokers go
    directory: Path
    logs: Path
    properties: Mapping[str, str] = field(default_factory=dict)
    advertise: Advertise | None = None
    jvm_flags: Sequence[str] = JVM_FLAGS
    outlives_us: bool = False
    records_classes: bool = True  # not of a JVM whose classes somebody will alter
    on_start: OnStart = lambda _id, _pid: None

    def check(self) -> None:
        if not 1 <= self.brokers <= BROKERS_MAX:
            raise UsageError(f"brokers must be 1 to {BROKERS_MAX}; got {self.brokers}")
        if any(self.directory.glob("broker-*")):
            raise ClusterError(f"{self.directory} holds brokers already; give an empty directory")
        if self.advertise is not None and "SSL" in self.properties.get(PROTOCOLS, ""):
            raise UsageError(
                "a proxy before a cluster with TLS would see nothing but ciphers: no frame could"
                " be recorded, none aimed at; leave the proxy or TLS out"
            )

    def build(self, ports: HeldPorts) -> tuple[list[Broker], Recording | None]:
        """Storage and properties of every broker on disk; none is started. A controller that is a
        process of its own comes first.
        """
        plans = self._plan(ports)
        software = self.software
        template = formatted_template(software.identity, software.java, software.classpath)
        cluster_id = new_kafka_id()
        for plan in plans:
            plan.directory.mkdir(parents=True, exist_ok=True)
            copy_template(template, plan.data, node_id=plan.id, cluster_id=cluster_id)
            text = to_text(broker_properties(plan, plans, self.properties))
            plan.properties_file.write_text(text)
        return self._brokers(plans)

    def clear(self) -> None:
        """Remove what a failed attempt left."""
        for kind in ("broker", "controller"):
            for directory in self.directory.glob(f"{kind}-*"):
                shutil.rmtree(directory)

    def _plan(self, ports: HeldPorts) -> list[BrokerPlan]:
        plans = [self._controller(ports)] if self.controller_apart else []
        for broker_id in range(1, self.brokers + 1):
            taken = dict(zip(LISTENERS, ports.take(len(LISTENERS)), strict=True))
            plan = BrokerPlan(
                id=broker_id, ports=taken, directory=self.directory / f"broker-{broker_id}"
            )
            plans.append(plan if self.advertise is None else _advertised(plan, self.advertise))
        return plans

    def _controller(self, ports: HeldPorts) -> BrokerPlan:
        return BrokerPlan(
            id=CONTROLLER_ID,
            ports=dict(zip([CONTROLLER], ports.take(1), strict=True)),
            directory=self.directory / f"controller-{CONTROLLER_ID}",
            is_controller=True,
        )

    def _brokers(self, plans: list[BrokerPlan]) -> tuple[list[Broker], Recording | None]:
        """With an archive of classes all use it; without one, the last broker records it."""
        archive = self.software.class_archive()
        sound = archive.is_sound()
        recording = None
        if not sound and not self.outlives_us and self.records_classes:
            recording = archive.recording(plans[-1].id)
        brokers = []
        for plan in plans:
            records = recording is not None and recording.broker_id == plan.id
            command = self.software.command(
                plan.properties_file,
                jvm_flags=self.jvm_flags,
                class_archive=archive.path if sound else None,
                record_classes_to=recording.path if recording and records else None,
            )
            log = self.logs / f"{plan.directory.name}.log"
            brokers.append(
                Broker(plan, command, log, outlives_us=self.outlives_us, on_start=self.on_start)
            )
        return brokers, recording


def _advertised(plan: BrokerPlan, advertise: Advertise) -> BrokerPlan:
    return BrokerPlan(
        id=plan.id,
        ports=plan.ports,
        directory=plan.directory,
        advertised={name: advertise(plan.id, name, plan.bound(name)) for name in PROXIED},
    )
