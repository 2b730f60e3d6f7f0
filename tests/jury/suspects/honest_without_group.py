"""An honest copy that keeps no position anybody can read: no group, no restart, no transactions."""

import os
import signal
import threading

from confluent_kafka import Consumer, Producer, TopicPartition


def main() -> None:
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    servers = {"bootstrap.servers": os.environ["ONCEPROOF_BOOTSTRAP_SERVERS"]}
    topic = os.environ["ONCEPROOF_INPUT_TOPIC"]
    producer = Producer({**servers, "partitioner": "murmur2_random", "enable.idempotence": True})
    consumer = Consumer({**servers, "group.id": "never-joined", "enable.auto.commit": False})
    partitions = consumer.list_topics(topic, timeout=10).topics[topic].partitions
    consumer.assign([TopicPartition(topic, partition, 0) for partition in partitions])
    while not stop.is_set():
        message = consumer.poll(0.2)
        if message is not None and message.error() is None:
            producer.produce(
                os.environ["ONCEPROOF_OUTPUT_TOPIC"], key=message.key(), value=message.value()
            )
            producer.poll(0)
    producer.flush(10)


if __name__ == "__main__":
    main()
