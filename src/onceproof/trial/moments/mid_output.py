"""Finds a moment in which an instance is writing output, and holds the instance there.

Seen from outside the moment is over before a signal arrives. So the instance is stopped (SIGSTOP)
when it looks right, looked at again while nothing of it can move, and let go on if it was too late.

    a suspect with transactions     one of its transactions is open on the output topic
    a suspect without               output has been written since its position last moved
    a suspect with a database       that says so of this instance
"""

from collections.abc import Callable
from dataclasses import dataclass

from onceproof.cluster import topics
from onceproof.cluster.topics import OpenTransaction
from onceproof.deadline import Deadline, pause, wait_until
from onceproof.errors import ClusterError, FaultError
from onceproof.suspects.instance import Instance
from onceproof.suspects.tables.table import Identity, Seen, Table
from onceproof.trial.stage import Stage
from onceproof.trial.watch import Watch

GLANCE_S = 0.25
TURN_S = 0.001
# What the stopped instance had already sent arrives within this.
SETTLE_S = 0.05
SETTLE_AMONG_MANY_S = 0.6
LOOK_S_MAX = 30.0
ONGOING = "Ongoing"


@dataclass(frozen=True, kw_only=True)
class Sign:
    """That output is being written: the open transactions, or (without any) how it grew."""

    identities: frozenset[Identity]
    told: str


class MidOutput:
    """One search. Transactions that were open before it began are left-overs of earlier faults."""

    def __init__(self, stage: Stage, watch: Watch) -> None:
        self._stage = stage
        self._watch = watch
        # Not swallowed here: a left-over that was overlooked would pass for a fresh transaction.
        self._left_over = wait_until(
            self._open_now, Deadline(LOOK_S_MAX), "open transactions could not be listed"
        ).identities
        self._written_at_position: tuple[int, int] | None = None
        # With one instance alone, whatever is open is its own. With several, the transactions of
        # the others end while this one stands still.
        self._settle_s = SETTLE_S if len(stage.instances) == 1 else SETTLE_AMONG_MANY_S

    def hold(self, instance: Instance, deadline: Deadline, is_over: Callable[[], bool]) -> str:
        """Returns with the instance standing still, mid-output; what shows it.

        `is_over`: no output will come any more, so that there is nothing to wait for.
        """
        while True:
            self._watch.turn()
            evidence = self._look_closely(instance, instance.family_pids())
            if evidence:
                return evidence
            if is_over():
                raise FaultError(f"{instance.name} had processed everything already")
            if deadline.expired():
                raise FaultError(f"{instance.name} was never seen writing output")

    def _look_closely(self, instance: Instance, family: list[int]) -> str:
        """For a short while do nothing but look: one may be open for milliseconds only."""
        glance = Deadline(GLANCE_S)
        while not glance.expired():
            seen = self._sign(instance)
            if seen is not None:
                instance.pause(family)
                pause(self._settle_s)
                again = self._sign(instance, seen)
                if again is not None and self._is_the_same(seen, again):
                    return again.told
                instance.resume()
            pause(TURN_S)
        return ""

    def _is_the_same(self, seen: Sign, again: Sign) -> bool:
        """The transaction seen before is still open, and its end has not been decided yet."""
        if not seen.identities:
            return not again.identities
        common = seen.identities & again.identities
        if not common or self._stage.table is not None:
            return bool(common)
        try:
            listed = topics.list_transactions(self._stage.client)
        except ClusterError:
            return False
        ongoing = {each.producer_id for each in listed if each.state == ONGOING}
        return any(producer_id in ongoing for _, producer_id, _, _ in common)

    def _sign(self, instance: Instance, seen: Sign | None = None) -> Sign | None:
        """What shows that output is being written right now; None if nothing does.

        `seen`: the sign of a moment ago, while the instance stands still.
        """
        if self._stage.table is not None:
            return self._in_table(self._stage.table, instance, seen)
        transactional = self._stage.plan.suspect.transactional
        if transactional is not False:
            opened = self._open_now()
            fresh = opened.identities - self._left_over if opened else frozenset()
            if fresh:
                return Sign(identities=fresh, told=_told(min(fresh), self._stage.output_topic))
        return self._unprotected_output() if transactional is not True else None

    def _in_table(self, table: Table, instance: Instance, seen: Sign | None) -> Sign | None:
        """What was not seen before is another member's work: that one goes on meanwhile."""
        if not isinstance(table, Seen):
            raise FaultError("nobody sees into its database: an aim at mid output cannot be met")
        found = {
            identity: told
            for identity, told in table.unfinished(instance.number).items()
            if seen is None or identity in seen.identities
        }
        if not found:
            return None
        return Sign(identities=frozenset(found), told="; ".join(found.values()))

    def _unprotected_output(self) -> Sign | None:
        try:
            written = sum(topics.end_offsets(self._stage.client, self._stage.output_topic).values())
            position = sum((self._watch.position() or {}).values())
        except ClusterError:
            return None
        if self._written_at_position is None or self._written_at_position[0] != position:
            self._written_at_position = (position, written)
            return None
        before = self._written_at_position[1]
        if written <= before:
            return None
        told = f"output grew from {before} to {written} while the position stayed at {position}"
        return Sign(identities=frozenset(), told=told)

    def _open_now(self) -> Sign | None:
        """All open transactions of the output; None if that cannot be told at the moment."""
        try:
            opened = topics.open_transactions(self._stage.client, self._stage.output_topic)
        except ClusterError:
            return None
        return Sign(identities=frozenset(_identity(each) for each in opened), told="")


def _identity(transaction: OpenTransaction) -> Identity:
    """What tells one from another."""
    return (
        transaction.partition,
        transaction.producer_id,
        transaction.epoch,
        transaction.start_offset,
    )


def _told(transaction: Identity, topic: str) -> str:
    partition, producer_id, epoch, start_offset = transaction
    return (
        f"transaction open: producer {producer_id} epoch {epoch} on {topic}-{partition}"
        f" since offset {start_offset}"
    )
