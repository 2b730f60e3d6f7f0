"""SIGTERM, and nobody waits: what follows is carried out while the victim shuts down.

A broker hands its partitions over first and ends seconds later; who takes them over loads them in
between. Healed by starting it again, once it has ended.
"""

from concurrent.futures import Future, ThreadPoolExecutor

from onceproof.errors import FaultError
from onceproof.faults.victim import Victim


class Leave:
    def __init__(self, victim: Victim) -> None:
        self._victim = victim
        self._stopping: Future[bool] | None = None

    def inject(self) -> str:
        thread = ThreadPoolExecutor(1)
        self._stopping = thread.submit(self._victim.stop)  # which bounds its own wait
        thread.shutdown(wait=False)
        return "SIGTERM; it was not waited for"

    def heal(self) -> None:
        assert self._stopping is not None
        self._stopping.result()
        self._victim.start()

    def is_healed(self) -> bool:
        return self._victim.is_running()

    def outcome(self) -> str:
        assert self._stopping is not None
        if not self._stopping.result():
            raise FaultError(f"{self._victim.name} did not end on SIGTERM and was killed")
        return "it ended by itself"
