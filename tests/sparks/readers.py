"""Two more readers of a topic. Neither shares code with the sink, with Spark, or with the other.

console       Kafka's own kafka-console-consumer, with read_committed
pure Python   kafka-python, which speaks the protocol by itself
"""

import os
import subprocess
from collections import defaultdict

from kafka import KafkaConsumer, TopicPartition
from records import ByKey

from onceproof import jars
from onceproof.cluster.local import LocalCluster

# The last release whose console consumer is in the jar that a broker is started from.
CONSOLE_JARS = "kafka-3.3.1"
CONSOLE = "kafka.tools.ConsoleConsumer"
SILENT_MS = 15_000
CONSOLE_S_MAX = 600
SEPARATOR = "\t"


def by_console(cluster: LocalCluster, topic: str) -> ByKey:
    classpath = os.pathsep.join(map(str, jars.classpath(CONSOLE_JARS)))
    ended = subprocess.run(
        [
            *("java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", classpath, CONSOLE),
            *("--bootstrap-server", cluster.bootstrap("judge"), "--topic", topic),
            *("--isolation-level", "read_committed", "--from-beginning"),
            *("--timeout-ms", str(SILENT_MS)),
            *("--property", "print.key=true", "--property", f"key.separator={SEPARATOR}"),
        ],
        capture_output=True,
        text=True,
        timeout=CONSOLE_S_MAX,
        check=False,
    )
    lines = ended.stdout.splitlines()
    assert f"Processed a total of {len(lines)} messages" in ended.stderr, ended.stderr[-2000:]
    return _by_key(line.split(SEPARATOR, 1) for line in lines)


def by_pure_python(cluster: LocalCluster, topic: str) -> ByKey:
    consumer = KafkaConsumer(
        bootstrap_servers=cluster.bootstrap("judge"),
        isolation_level="read_committed",
        enable_auto_commit=False,
        consumer_timeout_ms=SILENT_MS,
    )
    try:
        places = [
            TopicPartition(topic, number) for number in consumer.partitions_for_topic(topic) or ()
        ]
        consumer.assign(places)
        consumer.seek_to_beginning(*places)
        found = _by_key((each.key.decode(), each.value.decode()) for each in consumer)
        ends = consumer.end_offsets(places)
        assert {place: consumer.position(place) for place in places} == ends
        return found
    finally:
        consumer.close()


def _by_key(pairs: object) -> ByKey:
    values: ByKey = defaultdict(list)
    for key, value in pairs:  # type: ignore[attr-defined]
        values[key].append(value)
    return dict(values)
