"""What a plain read_committed consumer sees of a topic."""

from confluent_kafka import Consumer, Message, TopicPartition

from onceproof.cluster import topics
from onceproof.cluster.local import LocalCluster
from onceproof.deadline import Deadline

SETTLED_S_MAX = 30.0
POLL_S_MAX = 10.0


def committed(cluster: LocalCluster, topic: str) -> list[Message]:
    """Partition after partition, in the order of offsets. A commit is answered before its markers
    are written, so the topic is given time to settle."""
    consumer = Consumer(
        {
            "bootstrap.servers": cluster.bootstrap("judge"),
            "group.id": "reader",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
        }
    )
    ends = topics.wait_settled(cluster.client(), topic, Deadline(SETTLED_S_MAX))
    seen: list[Message] = []
    try:
        for partition in sorted(ends):
            consumer.assign([TopicPartition(topic, partition, 0)])
            while (message := consumer.poll(POLL_S_MAX)) is not None and message.error() is None:
                seen.append(message)
            assert message is not None, f"{topic}-{partition} was not read to its end"
    finally:
        consumer.close()
    return seen
