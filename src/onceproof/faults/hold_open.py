"""A transaction of the suspect is held open, and ended: what a reader of its output is told of its
lag meanwhile and after, held against the log.

    the suspect writes ──SIGSTOP──▶ open: LSO < HWM ─▶ look ──▶ end = "commit": SIGCONT
                                                            ──▶ end = "abort":  SIGKILL, timeout
                                         it stands again, nothing is open: look

The reader has read all it can: its position is the LSO at the first look. Numbers that disagree
with the log are no fault that applied: the run is UNKNOWN.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from onceproof.deadline import Deadline, pause, wait_until
from onceproof.errors import ClusterError, FaultError, OnceproofError, UsageError, unknown_name
from onceproof.faults.victim import Victim

if TYPE_CHECKING:
    from onceproof.cluster.batches import BatchHeader
    from onceproof.cluster.client import BrokerClient
    from onceproof.offsets.view import PartitionOffsets

HOLD_OPEN = "hold_open"
PARAMETER = "end"
COMMIT, ABORT = "commit", "abort"
OUTCOMES = {COMMIT: "COMMITTED", ABORT: "ABORTED"}
QUIET_S_MAX = 45.0
GLANCE_S = 1.0
# What a stopped suspect had already sent arrives within this.
SETTLE_S = 0.1
LOOKS_MAX = 3


class HoldOpen:
    """An aim has found its victim in the middle of a transaction: it stands still already, or the
    proxy holds a frame without which it cannot end that.
    """

    def __init__(self, victim: Victim, reading: "Reading") -> None:
        self._victim = victim
        self._reading = reading
        self._partition = self._begin = -1
        self._told = self._problem = ""

    def inject(self) -> str:
        if not self._victim.is_paused():
            self._victim.pause()
            pause(SETTLE_S)
        self._reading.begin()
        pinned = [each for each in self._reading.look() if each.pins]
        if not pinned:
            raise FaultError(f"no transaction of {self._victim.name} is open any more")
        held = max(pinned, key=lambda each: each.hwm - each.lso)
        self._partition, self._begin = held.partition, held.lso
        return f"SIGSTOP; while it is open: {told(held)}"

    def heal(self) -> None:
        """End it; look again while nothing moves; let the suspect go on."""
        quiet = Deadline(QUIET_S_MAX)
        try:
            if self._reading.end == ABORT:
                self._victim.kill()
                found = wait_until(self._ended, quiet, "the transaction stays open")
            else:
                found = wait_until(self._let_go, quiet, f"{self._victim.name} always writes")
            self._told = f"after its {self._reading.end}: {told(found)}"
        except OnceproofError as problem:
            self._problem = str(problem)
        if not self._victim.is_running():
            self._victim.start()
        elif self._victim.is_paused():
            self._victim.resume()

    def is_healed(self) -> bool:
        return self._victim.is_running() and not self._victim.is_paused()

    def outcome(self) -> str:
        if self._problem:
            raise FaultError(self._problem)
        return self._told

    def _let_go(self) -> "PartitionOffsets | None":
        """Until a moment is found in which nothing is open: there it is stopped once more."""
        self._victim.resume()
        glance = Deadline(GLANCE_S)
        while not self._reading.is_quiet() and not glance.expired():
            pass  # asking is a round trip: no pause is needed
        self._victim.pause()
        pause(SETTLE_S)
        return self._ended()

    def _ended(self) -> "PartitionOffsets | None":
        if not self._reading.is_quiet():
            return None
        looked = self._reading.look()
        self._reading.require_end(self._partition, self._begin)
        return next(each for each in looked if each.partition == self._partition)


class Reading:
    """A group that reads the suspect's output, and what is told of it."""

    def __init__(self, client: "BrokerClient", topic: str, end: str) -> None:
        self.end = end
        self._client = client
        self._topic = topic
        self._group = f"{topic}-reader"

    def begin(self) -> None:
        """Its position: as far as read_committed readers get right now."""
        from onceproof.cluster.groups import commit_positions
        from onceproof.cluster.topics import stable_offsets

        stable = stable_offsets(self._client, self._topic)
        commit_positions(self._client, self._group, self._topic, stable)

    def is_quiet(self) -> bool:
        """No transaction is open; one that cannot be told may be."""
        from onceproof.cluster.topics import open_transactions

        try:
            return not open_transactions(self._client, self._topic)
        except ClusterError:
            return False

    def look(self) -> "tuple[PartitionOffsets, ...]":
        """FaultError where the log shows other numbers than were told, again and again: a marker
        that comes between two questions is no disagreement.
        """
        from onceproof.offsets.read import read_offsets

        wrong: list[str] = []
        for _ in range(LOOKS_MAX):
            found = read_offsets(self._client, [self._topic], self._group).partitions
            wrong = [each for partition in found for each in self._disagreements(partition)]
            if not wrong:
                return found
            pause(SETTLE_S)
        raise FaultError("; ".join(wrong))

    def require_end(self, partition: int, begin: int) -> None:
        """FaultError where the transaction that began there was not ended as it was to be."""
        from onceproof.offsets.by_log import outcome_at

        became = outcome_at(partition, self._headers(partition), begin)
        if became != OUTCOMES[self.end]:
            where = f"{self._topic}-{partition}@{begin}"
            raise FaultError(f"the transaction at {where} was to {self.end}, and is {became}")

    def _disagreements(self, partition: "PartitionOffsets") -> list[str]:
        from onceproof.offsets.by_log import disagreements

        return disagreements(partition, self._headers(partition.partition))

    def _headers(self, partition: int) -> "Iterator[BatchHeader]":
        from onceproof.cluster.rawlog import read_headers

        return read_headers(self._client, self._topic, partition)


def told(each: "PartitionOffsets") -> str:
    unread = "" if each.has_unread or not each.lag_read_committed else ", of which none can be read"
    return (
        f"{each.topic}-{each.partition} has LSO {each.lso} and HWM {each.hwm}, as its log shows;"
        f" to a reader at {each.position} that is a lag of {each.lag_read_committed} as"
        f" read_committed{unread}, and of {each.lag_read_uncommitted} as read_uncommitted"
    )


def check_end(action: str, given: Mapping[str, Any]) -> None:
    for name in sorted(set(given) - {PARAMETER}):
        raise unknown_name(f"parameter of {action}", name, (PARAMETER,))
    if given.get(PARAMETER) not in OUTCOMES:
        raise UsageError(
            f"a fault's `{PARAMETER}` is one of {', '.join(OUTCOMES)}; got {given.get(PARAMETER)!r}"
        )
