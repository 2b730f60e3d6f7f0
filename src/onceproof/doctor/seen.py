"""What is looked at: the cluster as it stands, and, twice, what should have moved meanwhile."""

from collections.abc import Iterator
from dataclasses import dataclass

from onceproof.cluster.doors import Door
from onceproof.cluster.groups import Member
from onceproof.cluster.transactions import NamedTransaction
from onceproof.offsets.view import PartitionOffsets


@dataclass(frozen=True, kw_only=True)
class TopicCare:
    """How a topic is replicated. `partitions`: of each the replicas and those of them in sync."""

    topic: str
    min_insync: int
    partitions: tuple[tuple[int, int], ...]

    @property
    def replicas_min(self) -> int:
        return min(replicas for replicas, _ in self.partitions)

    @property
    def insync_min(self) -> int:
        return min(insync for _, insync in self.partitions)


@dataclass(frozen=True, kw_only=True)
class Standing:
    doors: tuple[Door, ...] = ()
    topics: tuple[TopicCare, ...] = ()
    untold: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class GroupSeen:
    """`pending`: partitions whose position is in an open transaction."""

    group: str
    state: str
    members: tuple[Member, ...] = ()
    partitions: tuple[PartitionOffsets, ...] = ()
    pending: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Look:
    """`untold`: questions that got no answer, each with the reason."""

    at_ms: int
    opened: tuple[tuple[str, NamedTransaction], ...] = ()  # by topic
    groups: tuple[GroupSeen, ...] = ()
    untold: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Looks:
    """Both, and what they have in common."""

    first: Look
    second: Look

    @property
    def between_s(self) -> float:
        return (self.second.at_ms - self.first.at_ms) / 1000

    def opened(self) -> Iterator[tuple[str, NamedTransaction]]:
        """What was open at both, as the second tells of it."""
        before = {(topic, _identity(each)) for topic, each in self.first.opened}
        for topic, each in self.second.opened:
            if (topic, _identity(each)) in before:
                yield topic, each

    def groups(self) -> Iterator[tuple[GroupSeen, GroupSeen]]:
        before = {each.group: each for each in self.first.groups}
        for each in self.second.groups:
            if each.group in before:
                yield before[each.group], each


def _identity(opened: NamedTransaction) -> tuple[int, int, int, int]:
    return opened.partition, opened.producer_id, opened.epoch, opened.start_offset


def partition_pairs(
    before: GroupSeen, after: GroupSeen
) -> Iterator[tuple[PartitionOffsets, PartitionOffsets]]:
    earlier = {(each.topic, each.partition): each for each in before.partitions}
    for each in after.partitions:
        if (each.topic, each.partition) in earlier:
            yield earlier[each.topic, each.partition], each
