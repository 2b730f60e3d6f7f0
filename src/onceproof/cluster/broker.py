"""One broker as a local process: killed, stopped, paused, resumed, restarted on its own data."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from onceproof.cluster import logs
from onceproof.cluster.client import BrokerClient
from onceproof.cluster.settings import CONTROLLER, INTERNAL, JUDGE, SUSPECTS, BrokerPlan
from onceproof.deadline import Deadline, wait_until
from onceproof.errors import ClusterError
from onceproof.process import Child, spawn

STOP_S_MAX = 20.0
OnStart = Callable[[int, int], None]  # told the id and the pid, at every start


class Broker:
    """Its ports and its data stay the same over restarts; its log goes on in the same file."""

    def __init__(
        self,
        plan: BrokerPlan,
        command: Sequence[str],
        log: Path,
        *,
        outlives_us: bool = False,
        on_start: OnStart = lambda _id, _pid: None,
    ) -> None:
        self.plan = plan
        self.log = log
        self._command = list(command)
        self._outlives_us = outlives_us
        self._child: Child | None = None
        self._on_start = on_start

    @property
    def id(self) -> int:
        return self.plan.id

    @property
    def name(self) -> str:
        return self.plan.name

    @property
    def pid(self) -> int:
        return self._started().pid

    def family_pids(self) -> list[int]:
        return [self.pid]

    def on_the_wire(self) -> Mapping[str, int | str]:
        return {"broker": self.id, "listener": SUSPECTS.lower()}

    def as_sender(self) -> Mapping[str, int | str]:
        return {"sender": self.id, "listener": INTERNAL.lower()}

    def to_controllers(self) -> Mapping[str, int | str]:
        return {"sender": self.id, "listener": CONTROLLER.lower()}

    def from_controllers(self) -> Mapping[str, int | str]:
        return {"broker": self.id, "listener": CONTROLLER.lower()}

    def start(self) -> None:
        if self.is_running():
            raise ClusterError(f"{self.name} runs already; pid {self.pid}")
        self._child = spawn(
            self.name,
            self._command,
            log=self.log,
            cwd=self.plan.directory,  # a JVM that crashes leaves its report where it stands
            outlives_us=self._outlives_us,
        )
        self._on_start(self.id, self._child.pid)

    def kill(self) -> None:
        """SIGKILL: no goodbye to controllers, no flush."""
        self._started().kill()

    def stop(self, deadline: Deadline | None = None) -> bool:
        """SIGTERM: a controlled shutdown, leaders move first. False if it had to be killed."""
        return self._started().stop(deadline or Deadline(STOP_S_MAX))

    def pause(self) -> None:
        """SIGSTOP: connections stay open, nothing is answered."""
        self._require_running()
        self._started().pause()

    def resume(self) -> None:
        self._require_running()
        self._started().resume()

    def restart(self) -> None:
        """Start again what was killed or stopped; one that still runs is stopped cleanly first."""
        if self.is_running():
            self.stop()
        self.start()

    def is_running(self) -> bool:
        """Also true while it is paused."""
        return self._child is not None and self._child.is_running()

    def is_paused(self) -> bool:
        return self._child is not None and self._child.is_paused()

    def wait_ready(self, deadline: Deadline, meanwhile: Callable[[], None] = lambda: None) -> None:
        """Until a broker that was restarted or resumed is live to itself and to all others.

        Itself alone may not know yet that it was fenced, the others alone that it was ever gone.
        """

        def live() -> bool:
            self.require_alive()
            meanwhile()
            try:
                with BrokerClient(self.plan.bound(JUDGE), deadline=deadline.at_most(2.0)) as client:
                    views = client.views_of_live_brokers()
            except ClusterError:
                return False
            return self.id in views and all(self.id in view for view in views.values())

        wait_until(live, deadline, lambda: f"{self.name} not ready; {self.cause()}")

    def require_alive(self) -> None:
        """Raise with the cause if the process has ended."""
        if not self.is_running():
            raise ClusterError(f"{self.name} ended; {self.cause()}")

    def cause(self) -> str:
        """How it is, and what its log says of trouble."""
        return logs.cause(self.log, None if self._child is None else self._child.exit_code())

    def _require_running(self) -> None:
        if not self.is_running():
            raise ClusterError(f"{self.name} does not run; {self.cause()}")

    def _started(self) -> Child:
        if self._child is None:
            raise ClusterError(f"{self.name} was never started")
        return self._child
