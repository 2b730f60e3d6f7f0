"""Consumer groups as their coordinators tell of them: which there are, and what they committed."""

from typing import Any

from kafka.protocol.admin import ListGroupsRequest
from kafka.protocol.consumer import OffsetFetchRequest

from onceproof.cluster.client import BrokerClient, check
from onceproof.cluster.roles import group_coordinator

Positions = dict[str, dict[int, int]]  # by topic and partition


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
