"""Where each replica of a topic stands: the end of its own log, which clients are not shown.

A client may read up to the high watermark, the least end of the replicas in sync. Each replica's
own end is told to one that asks as Kafka's replica verification does, without an isolation level.
"""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from kafka.protocol.consumer import IsolationLevel, OffsetSpec

from onceproof.cluster.client import BrokerClient, check
from onceproof.cluster.topics import offsets_request
from onceproof.errors import ClusterError

DEBUGGING_REPLICA_ID = -2  # asks any replica, not only the leader, and for the end of its log


@dataclass(frozen=True, kw_only=True)
class Replica:
    """`leo` None: its broker did not tell."""

    broker: int
    in_sync: bool
    leo: int | None


@dataclass(frozen=True, kw_only=True)
class Replication:
    leader: int
    replicas: tuple[Replica, ...]


def replication(client: BrokerClient, topic: str) -> dict[int, Replication]:
    """By partition. A replica whose broker is away has no end that can be told."""
    (found,) = client.metadata([topic]).topics
    check(found.error_code, f"topic {topic}")
    partitions = {each.partition_index: each for each in found.partitions}
    held: dict[int, list[int]] = defaultdict(list)
    for number, each in partitions.items():
        for broker in each.replica_nodes:
            held[broker].append(number)
    ends = {broker: _log_ends(client, topic, broker, held[broker]) for broker in held}
    return {
        number: Replication(
            leader=each.leader_id,
            replicas=tuple(
                Replica(
                    broker=broker, in_sync=broker in each.isr_nodes, leo=ends[broker].get(number)
                )
                for broker in each.replica_nodes
            ),
        )
        for number, each in sorted(partitions.items())
    }


def _log_ends(
    client: BrokerClient, topic: str, broker: int, partitions: list[int]
) -> dict[int, int]:
    request: Any = offsets_request(
        topic,
        partitions,
        OffsetSpec.LATEST,
        IsolationLevel.READ_UNCOMMITTED,
        replica_id=DEBUGGING_REPLICA_ID,
    )
    try:
        answer = client.ask(broker, request)
    except ClusterError:
        return {}
    told = answer.topics[0].partitions
    return {each.partition_index: each.offset for each in told if each.error_code == 0}
