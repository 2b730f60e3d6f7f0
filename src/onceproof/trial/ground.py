"""The brokers, and the proxy before them: for one trial, or for many one after the other.

suspects ──▶ proxy ──▶ brokers ◀── injector, judge      (a database, for suspects that need one)
               └── records every frame, into the directory of the trial that goes on
"""

import contextlib
from collections.abc import Callable
from pathlib import Path

from onceproof.cluster.broker import Broker
from onceproof.cluster.external import ExternalCluster
from onceproof.cluster.local import LocalCluster
from onceproof.cluster.ports import HeldPorts
from onceproof.cluster.settings import SUSPECTS
from onceproof.databases.catalog import DATABASES
from onceproof.databases.server import Server, ServerOrder
from onceproof.faults.jvm.byteman import Agents
from onceproof.trial.planning.plan import Plan
from onceproof.wire.control import Wire

Cluster = LocalCluster | ExternalCluster
Note = Callable[[str], None]


class Ground:
    """Use as a context, or `close` it. Made by `open_ground`."""

    def __init__(self, *, is_kept: bool = False) -> None:
        self._cluster: Cluster | None = None
        self.wire: Wire | None = None  # None: its addresses do not lead through a proxy
        self._ports = HeldPorts()
        self.agents = Agents(self._ports.take)  # in the JVMs of brokers and instances
        self._is_kept = is_kept
        self._behind_proxy = {SUSPECTS}
        self._databases: dict[str, Server] = {}
        self._place: tuple[Path, Path] | None = None  # for data, for logs

    def __enter__(self) -> "Ground":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def cluster(self) -> Cluster:
        assert self._cluster is not None
        return self._cluster

    @property
    def brokers(self) -> dict[int, Broker]:
        """Ours; none on a cluster that runs already."""
        return self._cluster.brokers if isinstance(self._cluster, LocalCluster) else {}

    def is_whole(self) -> bool:
        """Whether another trial can be held here."""
        stands = all(each.is_running() and not each.is_paused() for each in self.brokers.values())
        stands = stands and all(each.is_running() for each in self._databases.values())
        return stands and (self.wire is None or not self.wire.is_gone)

    def database(self, name: str) -> Server:
        """Started for the first suspect that needs it; the next ones find it running."""
        if name not in self._databases:
            assert self._place is not None
            data, logs = self._place
            order = ServerOrder(directory=data / name, logs=logs, take_ports=self._ports.take)
            self._databases[name] = DATABASES[name].start(order)
        return self._databases[name]

    def require_alive(self) -> None:
        """Without proxy or database the suspect talks to nobody, and that is not its fault."""
        if self.wire is not None:
            self.wire.require_alive()
        for database in self._databases.values():
            database.require_alive()

    def open(self, plan: Plan, *, logs: Path, state: Path, record: Path, note: Note) -> None:
        self._place = (state, logs)
        if plan.bootstrap_server is not None:
            self._cluster = ExternalCluster(plan.bootstrap_server)
            return
        # A cluster that is kept must not lead through a proxy that ends with the run.
        if not self._is_kept:
            self.wire = Wire.start(
                record=record, log=logs / "wire.log", seed=plan.seed, take_ports=self._ports.take
            )
        self._behind_proxy |= plan.listeners_behind_proxy
        self._cluster = LocalCluster.start(
            plan.scenario.kafka,
            own_jars=plan.kafka_jars,
            directory=state / "brokers",
            logs=logs,
            brokers=plan.scenario.brokers,
            controller_apart=plan.scenario.controllers == "apart",
            properties=plan.scenario.broker_properties,
            advertise=None if self.wire is None else self._advertise,
            on_start=self._know_broker,
            outlives_us=self._is_kept,
            records_classes=not any(step.needs_agent for step in plan.schedule),
            progress=note,
        )
        note(f"{plan.scenario.brokers} brokers are up: a transaction was committed")

    def _advertise(self, broker: int, listener: str, bound: str) -> str:
        """What brokers say to each other goes straight, unless a scenario needs it."""
        assert self.wire is not None
        if listener not in self._behind_proxy:
            return bound
        return self.wire.advertise(broker, listener, bound)

    def _know_broker(self, broker: int, pid: int) -> None:
        if self.wire is not None:
            self.wire.know_broker(broker, pid)

    def close(self) -> None:
        """Each step on its own: one that fails does not keep the others from being done."""
        with contextlib.ExitStack() as last_first:
            last_first.callback(self._ports.release)
            for database in self._databases.values():
                last_first.callback(database.stop)
            if self.wire is not None:
                last_first.callback(self.wire.close)
            if self._cluster is not None and not self._is_kept:
                last_first.callback(self._cluster.stop)


def open_ground(plan: Plan, directory: Path) -> Ground:
    """For many trials: logs go into `directory`, data below its `state`."""
    ground = Ground()
    logs = directory / "logs"
    logs.mkdir(exist_ok=True)
    state = _first_free(directory / "state")
    try:
        ground.open(plan, logs=logs, state=state, record=state / "wire", note=_silent)
    except BaseException:
        ground.close()
        raise
    return ground


def _first_free(folder: Path) -> Path:
    number = 1
    while (found := folder / f"ground-{number}").exists():
        number += 1
    found.mkdir(parents=True)
    return found


def _silent(_text: str) -> None:
    """What the brokers do while they start is in their logs."""
