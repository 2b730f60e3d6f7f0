"""Consumer groups as their coordinators tell of them: which there are, who is in them, and what
they committed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kafka.protocol.admin import DescribeGroupsRequest, ListGroupsRequest
from kafka.protocol.consumer import OffsetCommitRequest, OffsetFetchRequest
from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment

from onceproof.cluster.client import BrokerClient, check
from onceproof.cluster.roles import group_coordinator

Positions = dict[str, dict[int, int]]  # by topic and partition
CLASSIC = "consumer"
_UNSTABLE_OFFSET_COMMIT = 88


@dataclass(frozen=True, kw_only=True)
class Member:
    """`partitions`: what it is assigned, as far as that can be told ("out-0", …)."""

    member_id: str
    client_id: str
    host: str
    partitions: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.client_id} at {self.host.removeprefix('/')}"


def list_groups(client: BrokerClient) -> dict[str, str]:
    """State by group; each broker tells of the groups it coordinates."""
    requests = {broker: _every_group() for broker in client.live_brokers()}
    found = {}
    for broker, answer in client.ask_many(requests).items():
        check(answer.error_code, f"groups of broker {broker}")
        found.update({group.group_id: group.group_state for group in answer.groups})
    return dict(sorted(found.items()))


def _every_group() -> Any:
    return ListGroupsRequest(states_filter=[], types_filter=[], max_version=4)


def group_positions(client: BrokerClient, group: str) -> Positions:
    """Every position a group has committed. What is pending in a transaction does not count."""
    request = OffsetFetchRequest(group_id=group, topics=None, require_stable=False, max_version=7)
    answer = client.ask(group_coordinator(client, group), request)
    check(answer.error_code, f"committed offsets of group {group}")
    positions: Positions = {}
    for topic in answer.topics:
        for partition in topic.partitions:
            check(partition.error_code, f"committed offset of {group} on {topic.name}")
            if partition.committed_offset >= 0:
                offsets = positions.setdefault(topic.name, {})
                offsets[partition.partition_index] = partition.committed_offset
    return positions


def commit_positions(
    client: BrokerClient, group: str, topic: str, positions: Mapping[int, int]
) -> None:
    """As a consumer without a group's protocol does it: nobody else may be in the group."""
    topic_type: Any = OffsetCommitRequest.OffsetCommitRequestTopic
    partitions = [
        topic_type.OffsetCommitRequestPartition(
            partition_index=partition,
            committed_offset=position,
            committed_leader_epoch=-1,
            committed_metadata="",
        )
        for partition, position in positions.items()
    ]
    request = OffsetCommitRequest(
        group_id=group,
        generation_id_or_member_epoch=-1,
        member_id="",
        group_instance_id=None,
        topics=[topic_type(name=topic, partitions=partitions)],
        max_version=8,
    )
    answer = client.ask(group_coordinator(client, group), request)
    for partition in answer.topics[0].partitions:
        check(partition.error_code, f"position of {group} on {topic}")


def pending_positions(client: BrokerClient, group: str) -> tuple[str, ...]:
    """Partitions whose position is in an open transaction: a consumer that starts waits for them
    (KIP-447), and so does a commit that would overtake it.
    """
    request = OffsetFetchRequest(group_id=group, topics=None, require_stable=True, max_version=7)
    answer = client.ask(group_coordinator(client, group), request)
    check(answer.error_code, f"stable offsets of group {group}")
    return tuple(
        f"{topic.name}-{partition.partition_index}"
        for topic in answer.topics
        for partition in topic.partitions
        if partition.error_code == _UNSTABLE_OFFSET_COMMIT
    )


def group_members(client: BrokerClient, group: str) -> tuple[Member, ...]:
    """Of a group of the classic protocol; those of the new one (KIP-848) are not told here."""
    request = DescribeGroupsRequest(
        groups=[group], include_authorized_operations=False, max_version=4
    )
    (found,) = client.ask(group_coordinator(client, group), request).groups
    if found.error_code or found.protocol_type != CLASSIC:
        return ()
    return tuple(
        Member(
            member_id=each.member_id,
            client_id=each.client_id,
            host=each.client_host,
            partitions=_assigned(bytes(each.member_assignment or b"")),
        )
        for each in found.members
    )


def _assigned(assignment: bytes) -> tuple[str, ...]:
    """Empty while the group rebalances."""
    if not assignment:
        return ()
    partitions = ConsumerProtocolAssignment.decode(assignment).partitions()
    return tuple(f"{each.topic}-{each.partition}" for each in partitions)
