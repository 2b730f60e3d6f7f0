"""A cluster of our own: KRaft brokers as child processes, gone with us unless they shall stay.

template (formatted once) ──copy──▶ broker-N/data ─┐
ports (held) ──▶ server.properties ────────────────┼─▶ JVM with shared class data ──▶ ready
cache/class-data ◀── recorded at a clean stop ─────┘
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from onceproof.cluster import logs as broker_logs
from onceproof.cluster import readiness
from onceproof.cluster.broker import Broker, OnStart
from onceproof.cluster.classdata import Recording
from onceproof.cluster.client import BrokerClient
from onceproof.cluster.jvm import DEFAULT_VERSION, JVM_FLAGS, broker_software, own_software
from onceproof.cluster.order import Advertise, ClusterOrder
from onceproof.cluster.ports import HeldPorts
from onceproof.cluster.settings import JUDGE, LISTENERS
from onceproof.deadline import Deadline
from onceproof.errors import ClusterError, DeadlineExpired, OnceproofError, unknown_name
from onceproof.jars.own import OwnJars

START_S_MAX = 90.0
STARTS_MAX = 3  # with new ports each time
RECORDING_STOP_S_MAX = 30.0


class LocalCluster:
    """Brokers with ids from 1. `stop` ends them, and so does the end of this process."""

    def __init__(self, order: ClusterOrder) -> None:
        """Not started: see `start`."""
        self.version = order.software.version
        self.directory = order.directory
        self.brokers: dict[int, Broker] = {}
        self._controllers: list[Broker] = []  # those that are no brokers
        self._order = order
        self._ports = HeldPorts()
        self._recording: Recording | None = None
        self._client: BrokerClient | None = None

    @staticmethod
    def start(
        version: str = DEFAULT_VERSION,
        *,
        own_jars: OwnJars | None = None,
        directory: Path,
        logs: Path,
        brokers: int = 3,
        controller_apart: bool = False,
        properties: Mapping[str, str] | None = None,
        advertise: Advertise | None = None,
        on_start: OnStart = lambda _id, _pid: None,
        jvm_flags: Sequence[str] = JVM_FLAGS,
        outlives_us: bool = False,
        records_classes: bool = True,
        deadline: Deadline | None = None,
        progress: Callable[[str], None] = lambda _: None,
    ) -> "LocalCluster":
        """Start the brokers; returns when a transaction has been committed on them.

        `own_jars`: of a build of the user's own, instead of a version.
        """
        order = ClusterOrder(
            software=broker_software(version) if own_jars is None else own_software(own_jars),
            brokers=brokers,
            controller_apart=controller_apart,
            directory=directory.absolute(),
            logs=logs.absolute(),
            properties=properties or {},
            advertise=advertise,
            on_start=on_start,
            jvm_flags=jvm_flags,
            outlives_us=outlives_us,
            records_classes=records_classes,
        )
        order.check()
        cluster = LocalCluster(order)
        cluster._start_with_free_ports(deadline or Deadline(START_S_MAX), progress)
        return cluster

    def __enter__(self) -> "LocalCluster":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def bootstrap(self, listener: str = JUDGE) -> str:
        """Addresses for clients of one listener ("suspects", "judge"), as they are advertised."""
        name = listener.upper()
        if name not in LISTENERS:
            raise unknown_name("listener", listener, (each.lower() for each in LISTENERS))
        return ",".join(broker.plan.address(name) for broker in self.brokers.values())

    def client(self) -> BrokerClient:
        """The judge's client: one for the whole life of the cluster."""
        if self._client is None:
            self._client = BrokerClient(self.bootstrap(JUDGE))
        return self._client

    def broker(self, broker_id: int) -> Broker:
        if broker_id not in self.brokers:
            raise unknown_name("broker", str(broker_id), (str(known) for known in self.brokers))
        return self.brokers[broker_id]

    def wait_ready(self, deadline: Deadline) -> None:
        """Until every broker is live and a transaction has been committed."""
        self._require_alive()
        readiness.wait_ready(self.client(), set(self.brokers), deadline, self._require_alive)

    def stop(self) -> None:
        """End all brokers. Their data is not needed again: all but a recording one are killed."""
        self._close_client()
        self._finish_recording()
        for broker in self._processes():
            if broker.is_running():
                broker.kill()
        self._ports.release()

    def _start_with_free_ports(self, deadline: Deadline, progress: Callable[[str], None]) -> None:
        for attempt in range(1, STARTS_MAX + 1):
            try:
                self._start(deadline, progress)
                return
            except OnceproofError as error:
                taken = self._port_was_taken()
                self._abandon()
                if not taken:
                    raise
                if attempt == STARTS_MAX:
                    raise ClusterError(f"ports were taken {STARTS_MAX} times; {error}") from error
                progress("a port was taken meanwhile; starting on other ports")
                self._order.clear()
            except BaseException:
                self._abandon()
                raise

    def _start(self, deadline: Deadline, progress: Callable[[str], None]) -> None:
        progress(f"formatting storage for {self._order.brokers} brokers of Kafka {self.version}")
        brokers, self._recording = self._order.build(self._ports)
        self.brokers = {each.id: each for each in brokers if not each.plan.is_controller}
        self._controllers = [each for each in brokers if each.plan.is_controller]
        progress("starting brokers")
        for broker in brokers:
            broker.start()
        try:
            self._client = readiness.connect(self.bootstrap(JUDGE), deadline, self._require_alive)
            progress("waiting for the first committed transaction")
            self.wait_ready(deadline)
        except DeadlineExpired as error:
            causes = "; ".join(f"{broker.name}: {broker.cause()}" for broker in brokers)
            raise ClusterError(f"{error}; {causes}") from error

    def _processes(self) -> list[Broker]:
        return [*self.brokers.values(), *self._controllers]

    def _require_alive(self) -> None:
        for broker in self._processes():
            broker.require_alive()

    def _port_was_taken(self) -> bool:
        return any(
            not broker.is_running() and broker_logs.port_was_taken(broker.log)
            for broker in self._processes()
        )

    def _abandon(self) -> None:
        """End a start that failed; nothing is recorded of it."""
        self._recording = None
        self.stop()

    def _finish_recording(self) -> None:
        recording, self._recording = self._recording, None
        if recording is None:
            return
        broker = self.brokers[recording.broker_id]
        if broker.is_running() and not broker.is_paused():
            broker.stop(Deadline(RECORDING_STOP_S_MAX))
        recording.finish()

    def _close_client(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None
