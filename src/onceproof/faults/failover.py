"""SIGKILL for the coordinator of the suspect's group, which is watched as it moves and comes back.

    broker 2 leads __consumer_offsets-12 ──killed──▶ broker 3 leads it, loads it, answers
                                         ──started─▶ broker 2, the preferred leader, has it back

A coordinator comes back when the controller next looks for preferred leaders
(leader.imbalance.check.interval.seconds).
"""

from typing import TYPE_CHECKING

from onceproof.deadline import Deadline, wait_until
from onceproof.errors import ClusterError, FaultError
from onceproof.faults.victim import Victim

if TYPE_CHECKING:
    from onceproof.cluster.client import BrokerClient

FAILOVER = "failover"
TARGET = "broker:group_coordinator"
MOVE_S_MAX = 45.0


class Failover:
    def __init__(self, victim: Victim, client: "BrokerClient", group: str) -> None:
        self._victim = victim
        self._client = client
        self._group = group
        self._log = ""
        self._started: Deadline | None = None
        self._back_after_s = 0.0

    def inject(self) -> str:
        from onceproof.cluster.offset_commits import TOPIC, partition_of
        from onceproof.cluster.roles import partition_leaders

        partitions = len(partition_leaders(self._client, TOPIC))
        self._log = f"{TOPIC}-{partition_of(self._group, partitions)}"
        first = self._preferred()
        if self._place() != (self._victim.name, self._victim.name) or first != self._victim.name:
            raise FaultError(
                f"{self._log} is led by {self._place()[0]}, {first} is its preferred leader, and"
                f" {self._victim.name} was to be the coordinator"
            )
        moves = Deadline(MOVE_S_MAX)
        self._victim.kill()
        heir = wait_until(self._heir, moves, f"nobody answers for group {self._group}")
        return (
            f"SIGKILL; {self._log} (of {partitions}, by the hash of the group's id) and group"
            f" {self._group} moved to {heir} within {moves.elapsed_s():.1f} s"
        )

    def heal(self) -> None:
        self._victim.start()
        self._started = Deadline(MOVE_S_MAX)

    def is_healed(self) -> bool:
        """When the group is back where it was."""
        if not self._victim.is_running() or self._started is None:
            return False
        try:
            is_back = self._place() == (self._victim.name, self._victim.name)
        except ClusterError:
            return False
        self._back_after_s = self._started.elapsed_s()
        return is_back

    def outcome(self) -> str:
        return (
            f"{self._victim.name}, started again, leads {self._log} and answers for the group"
            f" after {self._back_after_s:.1f} s"
        )

    def _heir(self) -> str | None:
        """The broker that both leads the group's partition and answers for the group."""
        try:
            leader, coordinator = self._place()
        except ClusterError:
            return None
        moved = leader == coordinator and leader != self._victim.name
        return leader if moved else None

    def _place(self) -> tuple[str, str]:
        """Who leads the group's partition, and who answers for the group; asked apart."""
        from onceproof.cluster.roles import group_coordinator, partition_leader

        topic, _, number = self._log.rpartition("-")
        leader = partition_leader(self._client, topic, int(number))
        return f"broker {leader}", f"broker {group_coordinator(self._client, self._group)}"

    def _preferred(self) -> str:
        topic, _, number = self._log.rpartition("-")
        (found,) = self._client.metadata([topic]).topics
        (partition,) = [each for each in found.partitions if each.partition_index == int(number)]
        return f"broker {partition.replica_nodes[0]}"
