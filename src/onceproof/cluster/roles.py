"""Which broker plays which part, right now: the targets of faults that aim by role."""

from typing import Any

from kafka.protocol.admin import DescribeQuorumRequest
from kafka.protocol.metadata import CoordinatorType, FindCoordinatorRequest

from onceproof.cluster.client import ASK_S_MAX, BrokerClient, check
from onceproof.errors import ClusterError

_METADATA_TOPIC = "__cluster_metadata"
_OFFSETS_TOPIC = "__consumer_offsets"


def partition_leader(client: BrokerClient, topic: str, partition: int) -> int:
    leaders = partition_leaders(client, topic)
    if partition not in leaders:
        raise ClusterError(f"{topic} has no partition {partition}; it has {sorted(leaders)}")
    leader = leaders[partition]
    if leader < 0:
        raise ClusterError(f"{topic}-{partition} has no leader now")
    return leader


def partition_leaders(client: BrokerClient, topic: str) -> dict[int, int]:
    """Leader by partition; -1 where there is none at the moment."""
    for found in client.metadata([topic]).topics:
        if found.name == topic:
            check(found.error_code, f"topic {topic}")
            return {each.partition_index: each.leader_id for each in found.partitions}
    raise ClusterError(f"topic {topic} is not in the metadata")


def offsets_donor(client: BrokerClient, heir: int) -> int:
    """The leader of a partition of the offsets log that `heir` takes over when that leader goes:
    of the replicas that are left, the first one leads.
    """
    (topic,) = client.metadata([_OFFSETS_TOPIC]).topics
    check(topic.error_code, f"topic {_OFFSETS_TOPIC}")
    for partition in topic.partitions:
        left = [each for each in partition.replica_nodes if each != partition.leader_id]
        if partition.leader_id >= 0 and left[:1] == [heir]:
            return int(partition.leader_id)
    raise ClusterError(f"broker {heir} takes over no partition of {_OFFSETS_TOPIC} next")


def group_coordinator(client: BrokerClient, group: str) -> int:
    return find_coordinator(client, CoordinatorType.GROUP, group)


def transaction_coordinator(client: BrokerClient, transactional_id: str) -> int:
    return find_coordinator(client, CoordinatorType.TRANSACTION, transactional_id)


def find_coordinator(client: BrokerClient, kind: CoordinatorType, key: str) -> int:
    request = FindCoordinatorRequest(key=key, key_type=kind.value, max_version=3)
    answer = client.ask_any(request, ASK_S_MAX)
    check(answer.error_code, f"{kind.name.lower()} coordinator of {key!r}")
    return int(answer.node_id)


def active_controller(client: BrokerClient) -> int:
    """The leader of the controllers' quorum. (Metadata names any broker: it only forwards.)"""
    topic: Any = DescribeQuorumRequest.TopicData
    partition = topic.PartitionData(partition_index=0)
    request = DescribeQuorumRequest(
        topics=[topic(topic_name=_METADATA_TOPIC, partitions=[partition])]
    )
    answer = client.ask_any(request, ASK_S_MAX)
    check(answer.error_code, "active controller")
    quorum = answer.topics[0].partitions[0]
    check(quorum.error_code, "active controller")
    if quorum.leader_id < 0:
        raise ClusterError("no active controller now: the quorum has no leader")
    return int(quorum.leader_id)
