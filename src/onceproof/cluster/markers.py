"""Ends a transaction that no coordinator will end, as `kafka-transactions abort` does: by asking
the partition's leader to write the abort marker. The only question of this room that writes into
somebody's topic.
"""

from typing import Any

from kafka.protocol.admin import DescribeProducersRequest
from kafka.protocol.producer.transaction import WriteTxnMarkersRequest

from onceproof.cluster.client import BrokerClient, check
from onceproof.cluster.roles import partition_leader
from onceproof.cluster.topics import stable_offsets
from onceproof.deadline import Deadline, wait_until
from onceproof.errors import ClusterError

ABORT_S_MAX = 15.0


def abort_open(client: BrokerClient, topic: str, partition: int, start_offset: int) -> int:
    """Abort what is open from that offset on; the partition's LSO, once it has moved past it."""
    leader = partition_leader(client, topic, partition)
    producer = _open_at(client, leader, (topic, partition), start_offset)
    answer = client.ask(leader, _abort(topic, partition, producer), ABORT_S_MAX)
    for marker in answer.markers:
        for told in marker.topics:
            for each in told.partitions:
                check(each.error_code, f"abort marker on {topic}-{each.partition_index}")

    def moved() -> list[int] | None:
        stable = stable_offsets(client, topic)[partition]
        return [stable] if stable > start_offset else None

    where = f"{topic}-{partition}"
    return wait_until(moved, Deadline(ABORT_S_MAX), f"the LSO of {where} stays at {start_offset}")[
        0
    ]


def _open_at(client: BrokerClient, leader: int, where: tuple[str, int], start_offset: int) -> Any:
    """Asked again right before the marker: an epoch of long ago may be somebody else's by now."""
    topic, partition = where
    asked: Any = DescribeProducersRequest.TopicRequest
    request = DescribeProducersRequest(topics=[asked(name=topic, partition_indexes=[partition])])
    (found,) = client.ask(leader, request).topics[0].partitions
    check(found.error_code, f"producers of {topic}-{partition}")
    for producer in found.active_producers:
        if producer.current_txn_start_offset == start_offset:
            return producer
    raise ClusterError(
        f"no transaction is open on {topic}-{partition} from {start_offset} any more"
    )


def _abort(topic: str, partition: int, producer: Any) -> Any:
    """With the coordinator's epoch of the producer's last marker: an older one would be refused."""
    marker: Any = WriteTxnMarkersRequest.WritableTxnMarker
    return WriteTxnMarkersRequest(
        markers=[
            marker(
                producer_id=producer.producer_id,
                producer_epoch=producer.producer_epoch,
                transaction_result=False,
                topics=[marker.WritableTxnMarkerTopic(name=topic, partition_indexes=[partition])],
                coordinator_epoch=producer.coordinator_epoch,
            )
        ],
        max_version=1,  # from 2 on the coordinator's rules for epochs hold, and it is not asked
    )
