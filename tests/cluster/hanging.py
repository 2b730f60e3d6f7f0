"""A transaction that really hangs, as clients left it behind before KIP-890: its records come to a
partition that its coordinator was never told of. The brokers must not verify what they are sent.
"""

import time
from typing import Any

from kafka.protocol.producer import InitProducerIdRequest, ProduceRequest
from kafka.record.default_records import DefaultRecordBatchBuilder

from onceproof.cluster.client import BrokerClient, check
from onceproof.cluster.roles import partition_leader, transaction_coordinator
from onceproof.deadline import Deadline, wait_until

UNVERIFIED = {"transaction.partition.verification.enable": "false"}
TIMEOUT_MS = 60_000
CALL_S = 10.0
BEFORE_IMPLICIT_PARTITIONS = 11  # Produce 12 adds its partitions to the transaction itself


def new_producer(client: BrokerClient, transactional_id: str) -> Any | None:
    """None: a broker that has given none yet asks the controller first, and says it is loading."""
    coordinator = transaction_coordinator(client, transactional_id)
    request = InitProducerIdRequest(
        transactional_id=transactional_id,
        transaction_timeout_ms=TIMEOUT_MS,
        producer_id=-1,
        producer_epoch=-1,
        max_version=4,
    )
    answer = client.ask(coordinator, request, CALL_S)
    return None if answer.error_code else answer


def leave_hanging(client: BrokerClient, topic: str, partition: int, transactional_id: str) -> None:
    """One record in a transaction that nobody will ever end."""
    producer = wait_until(
        lambda: new_producer(client, transactional_id), Deadline(CALL_S), "no producer id is given"
    )
    batch = DefaultRecordBatchBuilder(
        magic=2,
        compression_type=0,
        is_transactional=True,
        producer_id=producer.producer_id,
        producer_epoch=producer.producer_epoch,
        base_sequence=0,
        batch_size=10_000,
    )
    batch.append(0, int(time.time() * 1000), b"key", b"value", [])
    data: Any = ProduceRequest.TopicProduceData
    written = data.PartitionProduceData(index=partition, records=bytes(batch.build()))
    produce = ProduceRequest(
        transactional_id=transactional_id,
        acks=-1,
        timeout_ms=5_000,
        topic_data=[data(name=topic, partition_data=[written])],
        max_version=BEFORE_IMPLICIT_PARTITIONS,
    )
    answer = client.ask(partition_leader(client, topic, partition), produce, CALL_S)
    check(answer.responses[0].partition_responses[0].error_code, f"record in {topic}")
