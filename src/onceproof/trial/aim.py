"""Finds a moment in which an instance is writing output, and holds the instance there.

Seen from outside the moment is over before a signal arrives. So the instance is stopped (SIGSTOP)
when it looks right, looked at again while nothing of it can move, and let go on if it was too late.

    a suspect with transactions     one of its transactions is open on the output topic
    a suspect without               output has been written since its position last moved
"""

from collections.abc import Callable

from onceproof.cluster import topics
from onceproof.cluster.topics import OpenTransaction
from onceproof.deadline import Deadline, pause
from onceproof.errors import ClusterError, FaultError
from onceproof.suspects.instance import Instance
from onceproof.trial.stage import Stage
from onceproof.trial.watch import Watch

GLANCE_S = 0.25
TURN_S = 0.001
# What the stopped instance had already sent arrives within this.
SETTLE_S = 0.05


class Aim:
    """One search. Transactions that were open before it began are left-overs of earlier faults."""

    def __init__(self, stage: Stage, watch: Watch) -> None:
        self._stage = stage
        self._watch = watch
        self._left_over = {_identity(each) for each in self._open()}
        self._written_at_position: tuple[int, int] | None = None

    def hold(self, instance: Instance, deadline: Deadline, is_over: Callable[[], bool]) -> str:
        """Returns with the instance standing still, mid-output; what shows it.

        `is_over`: no output will come any more, so that there is nothing to wait for.
        """
        while True:
            self._watch.turn()
            family = instance.family_pids()
            evidence = self._look_closely(instance, family)
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
            if self._evidence():
                instance.pause(family)
                pause(SETTLE_S)
                evidence = self._evidence()
                if evidence:
                    return evidence
                instance.resume()
            pause(TURN_S)
        return ""

    def _evidence(self) -> str:
        """What shows that output is being written right now; nothing if it is not."""
        transactional = self._stage.plan.suspect.transactional
        if transactional is not False:
            fresh = [each for each in self._open() if _identity(each) not in self._left_over]
            if fresh:
                return _told(fresh[0], self._stage.output_topic)
        return self._unprotected_output() if transactional is not True else ""

    def _unprotected_output(self) -> str:
        try:
            written = sum(topics.end_offsets(self._stage.client, self._stage.output_topic).values())
            position = sum((self._watch.position() or {}).values())
        except ClusterError:
            return ""
        if self._written_at_position is None or self._written_at_position[0] != position:
            self._written_at_position = (position, written)
            return ""
        before = self._written_at_position[1]
        if written <= before:
            return ""
        return f"output grew from {before} to {written} while the position stayed at {position}"

    def _open(self) -> list[OpenTransaction]:
        try:
            return topics.open_transactions(self._stage.client, self._stage.output_topic)
        except ClusterError:
            return []  # no leader at the moment: nothing can be said, so nothing is


def _identity(transaction: OpenTransaction) -> tuple[int, int, int, int]:
    return (
        transaction.partition,
        transaction.producer_id,
        transaction.epoch,
        transaction.start_offset,
    )


def _told(transaction: OpenTransaction, topic: str) -> str:
    return (
        f"transaction open: producer {transaction.producer_id} epoch {transaction.epoch} on"
        f" {topic}-{transaction.partition} since offset {transaction.start_offset}"
    )
