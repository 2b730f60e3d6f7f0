"""A transaction that really hangs, as clients left it behind before KIP-890: its records come to a
partition that its coordinator was never told of. The brokers must not verify what they are sent.
"""

import time
from typing import Any

from kafka.protocol.producer import InitProducerIdRequest, ProduceRequest
from kafka.record.default_records import DefaultRecordBatchBuilder

from onceproof.cluster.client import BrokerClient, check
from onceproof.cluster.roles import partition_leader, transaction_coordinator

UNVERIFIED = {"transaction.partition.verification.enable": "false"}
TIMEOUT_MS = 60_000
BEFORE_IMPLICIT_PARTITIONS = 11  # Produce 12 adds its partitions to the transaction itself


def leave_hanging(client: BrokerClient, topic: str, partition: int, transactional_id: str) -> None:
    """One record in a transaction that nobody will ever end."""
    coordinator = transaction_coordinator(client, transactional_id)
    request = InitProducerIdRequest(
        transactional_id=transactional_id,
        transaction_timeout_ms=TIMEOUT_MS,
        producer_id=-1,
        producer_epoch=-1,
        max_version=4,
    )
    producer = client.ask(coordinator, request, timeout_s=10)
    check(producer.error_code, f"producer id of {transactional_id}")
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
    answer = client.ask(partition_leader(client, topic, partition), produce, timeout_s=10)
    check(answer.responses[0].partition_responses[0].error_code, f"record in {topic}")
