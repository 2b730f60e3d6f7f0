"""Topics as the brokers tell of them: made, measured, and watched for open transactions.

Each function asks the leaders directly and at once; a leader that is down or moves gives a
ClusterError that names it, within `client.ASK_S_MAX`.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kafka.protocol.admin import (
    CreateTopicsRequest,
    DeleteTopicsRequest,
    DescribeProducersRequest,
    ListTransactionsRequest,
)
from kafka.protocol.consumer import (
    IsolationLevel,
    ListOffsetsRequest,
    OffsetFetchRequest,
    OffsetSpec,
)

from onceproof.cluster.client import BrokerClient, check
from onceproof.cluster.roles import group_coordinator, partition_leaders
from onceproof.deadline import Deadline, wait_until
from onceproof.errors import ClusterError

CREATE_S_MAX = 15.0
NO_TRANSACTION = -1
_TOPIC_EXISTS = 36
_REPLICA_ID_OF_A_CLIENT = -1


@dataclass(frozen=True, kw_only=True)
class OpenTransaction:
    """A transaction that has written to a partition and has no marker there yet."""

    partition: int
    producer_id: int
    epoch: int
    start_offset: int


@dataclass(frozen=True, kw_only=True)
class ListedTransaction:
    transactional_id: str
    producer_id: int
    state: str
    coordinator: int


def create_topic(
    client: BrokerClient,
    topic: str,
    *,
    partitions: int,
    config: Mapping[str, str] | None = None,
    exists_ok: bool = False,
    deadline: Deadline | None = None,
) -> None:
    """Create a topic, replicated as the cluster does it; returns when all partitions are served."""
    deadline = deadline or Deadline(CREATE_S_MAX)
    creatable: Any = CreateTopicsRequest.CreatableTopic
    configs = [
        creatable.CreatableTopicConfig(name=name, value=value)
        for name, value in (config or {}).items()
    ]
    wanted = creatable(
        name=topic,
        num_partitions=partitions,
        replication_factor=-1,
        assignments=[],
        configs=configs,
    )
    request = CreateTopicsRequest(topics=[wanted], timeout_ms=int(deadline.remaining_s() * 1000))
    answer = client.ask_any(request, deadline.remaining_s())
    code = answer.topics[0].error_code
    if not (exists_ok and code == _TOPIC_EXISTS):
        check(code, f"topic {topic} could not be created")
    wait_until(
        lambda: _is_served(client, topic, partitions),
        deadline,
        f"{topic} has partitions that no leader serves",
        pause_s=0.01,
    )


def _is_served(client: BrokerClient, topic: str, partitions: int) -> bool:
    """The metadata names leaders a moment before they know of it themselves: ask them."""
    try:
        return len(end_offsets(client, topic)) >= partitions
    except ClusterError:
        return False


def delete_topic(client: BrokerClient, topic: str) -> None:
    request = DeleteTopicsRequest(
        topic_names=[topic], timeout_ms=int(CREATE_S_MAX * 1000), max_version=5
    )
    answer = client.ask_any(request, CREATE_S_MAX)
    check(answer.responses[0].error_code, f"topic {topic} could not be deleted")


def start_offsets(client: BrokerClient, topic: str) -> dict[int, int]:
    """The first offset each partition still holds."""
    return _list_offsets(client, topic, OffsetSpec.EARLIEST, IsolationLevel.READ_UNCOMMITTED)


def end_offsets(client: BrokerClient, topic: str) -> dict[int, int]:
    """The high watermark of each partition."""
    return _list_offsets(client, topic, OffsetSpec.LATEST, IsolationLevel.READ_UNCOMMITTED)


def stable_offsets(client: BrokerClient, topic: str) -> dict[int, int]:
    """The last stable offset of each partition: where read_committed readers stop."""
    return _list_offsets(client, topic, OffsetSpec.LATEST, IsolationLevel.READ_COMMITTED)


def wait_settled(client: BrokerClient, topic: str, deadline: Deadline) -> dict[int, int]:
    """Until no transaction is open on the topic; its end offsets then.

    A commit is answered before its markers are in the topic: who reads at once misses records.
    """

    def settled() -> dict[int, int] | None:
        ends = end_offsets(client, topic)
        return ends if stable_offsets(client, topic) == ends else None

    return wait_until(settled, deadline, f"a transaction stays open on {topic}")


def _list_offsets(
    client: BrokerClient, topic: str, spec: OffsetSpec, isolation: IsolationLevel
) -> dict[int, int]:
    requests = {
        leader: offsets_request(topic, partitions, spec, isolation)
        for leader, partitions in _by_leader(client, topic).items()
    }
    offsets = {}
    for answer in client.ask_many(requests).values():
        for partition in answer.topics[0].partitions:
            check(partition.error_code, f"offset of {topic}-{partition.partition_index}")
            offsets[partition.partition_index] = partition.offset
    return dict(sorted(offsets.items()))


def offsets_request(
    topic: str,
    partitions: Iterable[int],
    spec: OffsetSpec,
    isolation: IsolationLevel,
    replica_id: int = _REPLICA_ID_OF_A_CLIENT,
) -> Any:
    topic_type: Any = ListOffsetsRequest.ListOffsetsTopic
    asked = [
        topic_type.ListOffsetsPartition(
            partition_index=partition, current_leader_epoch=-1, timestamp=spec.value
        )
        for partition in partitions
    ]
    return ListOffsetsRequest(
        replica_id=replica_id,
        isolation_level=isolation.value,
        topics=[topic_type(name=topic, partitions=asked)],
        max_version=7,
    )


def committed_offsets(client: BrokerClient, group: str, topic: str) -> dict[int, int]:
    """The positions a group has committed on a topic; partitions without one are left out.

    Offsets that are pending in an open transaction do not count: they may be aborted yet.
    """
    topic_type: Any = OffsetFetchRequest.OffsetFetchRequestTopic
    partitions = sorted(partition_leaders(client, topic))
    request = OffsetFetchRequest(
        group_id=group,
        topics=[topic_type(name=topic, partition_indexes=partitions)],
        require_stable=False,
        max_version=7,
    )
    answer = client.ask(group_coordinator(client, group), request)
    check(answer.error_code, f"committed offsets of group {group}")
    committed = {}
    for partition in answer.topics[0].partitions:
        check(partition.error_code, f"committed offset of {group} on {topic}")
        if partition.committed_offset >= 0:
            committed[partition.partition_index] = partition.committed_offset
    return committed


def open_transactions(client: BrokerClient, topic: str) -> list[OpenTransaction]:
    """The transactions open on a topic at this moment, as the leaders know them."""
    found: list[OpenTransaction] = []
    for partition in _with_producers(client, topic):
        found += _open_on(partition.partition_index, partition.active_producers)
    return sorted(found, key=lambda each: (each.partition, each.start_offset))


def producers_of(client: BrokerClient, topic: str) -> set[int]:
    """The ids of those that have written to a topic not long ago, as its leaders know them."""
    return {
        producer.producer_id
        for partition in _with_producers(client, topic)
        for producer in partition.active_producers
    }


def _with_producers(client: BrokerClient, topic: str) -> list[Any]:
    """Each partition, as its leader describes those that write to it."""
    topic_type: Any = DescribeProducersRequest.TopicRequest
    requests = {
        leader: DescribeProducersRequest(
            topics=[topic_type(name=topic, partition_indexes=partitions)]
        )
        for leader, partitions in _by_leader(client, topic).items()
    }
    answers = client.ask_many(requests).values()
    described = [partition for answer in answers for partition in answer.topics[0].partitions]
    for partition in described:
        check(partition.error_code, f"producers of {topic}-{partition.partition_index}")
    return described


def _open_on(partition: int, producers: Iterable[Any]) -> list[OpenTransaction]:
    return [
        OpenTransaction(
            partition=partition,
            producer_id=producer.producer_id,
            epoch=producer.producer_epoch,
            start_offset=producer.current_txn_start_offset,
        )
        for producer in producers
        if producer.current_txn_start_offset != NO_TRANSACTION
    ]


def list_transactions(client: BrokerClient) -> list[ListedTransaction]:
    """All transactions the coordinators know, in any state (Kafka 3.0 and later)."""
    listed = []
    requests = {
        broker: ListTransactionsRequest(state_filters=[], producer_id_filters=[], max_version=0)
        for broker in client.live_brokers()
    }
    for broker, answer in client.ask_many(requests).items():
        check(answer.error_code, f"transactions of broker {broker}")
        listed += [
            ListedTransaction(
                transactional_id=state.transactional_id,
                producer_id=state.producer_id,
                state=state.transaction_state,
                coordinator=int(broker),
            )
            for state in answer.transaction_states
        ]
    return listed


def _by_leader(client: BrokerClient, topic: str) -> dict[int, list[int]]:
    grouped: dict[int, list[int]] = defaultdict(list)
    for partition, leader in partition_leaders(client, topic).items():
        if leader < 0:
            raise ClusterError(f"{topic}-{partition} has no leader now")
        grouped[leader].append(partition)
    return dict(grouped)
