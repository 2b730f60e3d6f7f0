"""Clusters that outlive the command that started them, found again by a state file.

    cluster up ──save──▶ cluster.json ──load──▶ cluster status, cluster down

A pid alone proves nothing after a reboot or a long time: each is kept with its start time, and a
process that does not match both is left alone.
"""

import contextlib
import json
import os
import signal
from dataclasses import asdict, dataclass
from pathlib import Path

from onceproof.cluster.local import LocalCluster
from onceproof.cluster.settings import LISTENERS
from onceproof.deadline import Deadline, wait_until
from onceproof.errors import ClusterError, unknown_name
from onceproof.files import write_json
from onceproof.process import start_ticks

STATE_FILE = "cluster.json"
END_S_MAX = 20.0


@dataclass(frozen=True, kw_only=True)
class KeptBroker:
    id: int
    pid: int
    started_ticks: int  # the kernel's clock ticks at which the process began
    log: str
    addresses: dict[str, str]  # by listener, as advertised

    def is_running(self) -> bool:
        return start_ticks(self.pid) == self.started_ticks


@dataclass(frozen=True, kw_only=True)
class KeptCluster:
    """A cluster as its state file tells of it."""

    version: str
    directory: str
    brokers: tuple[KeptBroker, ...]

    def bootstrap(self, listener: str = "judge") -> str:
        name = listener.upper()
        if name not in LISTENERS:
            raise unknown_name("listener", listener, (each.lower() for each in LISTENERS))
        return ",".join(broker.addresses[name] for broker in self.brokers)

    def running(self) -> list[int]:
        return [broker.id for broker in self.brokers if broker.is_running()]

    def stop(self, deadline: Deadline | None = None) -> None:
        """Kill the brokers that still run, paused ones too; returns when none is left."""
        for broker in self.brokers:
            if broker.is_running():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(broker.pid, signal.SIGKILL)
        wait_until(
            lambda: not self.running(),
            deadline or Deadline(END_S_MAX),
            lambda: f"brokers {self.running()} survived SIGKILL",
        )


def save(cluster: LocalCluster, state_file: Path) -> KeptCluster:
    """Write the state file; the cluster must have been started with `outlives_us`."""
    brokers = []
    for broker in cluster.brokers.values():
        started = start_ticks(broker.pid)
        if started is None:
            raise ClusterError(f"{broker.name} cannot be kept: it ended; {broker.cause()}")
        brokers.append(
            KeptBroker(
                id=broker.id,
                pid=broker.pid,
                started_ticks=started,
                log=str(broker.log),
                addresses={name: broker.plan.address(name) for name in LISTENERS},
            )
        )
    kept = KeptCluster(
        version=cluster.version, directory=str(cluster.directory), brokers=tuple(brokers)
    )
    state_file.parent.mkdir(parents=True, exist_ok=True)
    write_json(state_file, asdict(kept))
    return kept


def load(state_file: Path) -> KeptCluster:
    try:
        data = json.loads(state_file.read_text(encoding="utf-8"))
        brokers = tuple(KeptBroker(**broker) for broker in data.pop("brokers"))
        return KeptCluster(**data, brokers=brokers)
    except FileNotFoundError as error:
        raise ClusterError(f"no cluster is kept: {state_file} does not exist") from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ClusterError(f"{state_file} is not a state file of a cluster: {error}") from error
