"""Through the proxy against straight to the brokers: the same clients, the same cluster, in turns.

    producer, consumer ──▶ listener "judge", direct        ──▶ three brokers
                       └─▶ listener "suspects", the proxy  ──▶ the same

Every frame is decoded and recorded. Rates are of records of 100 and 1,000 bytes written with
acks=all, and read back; latency is that of one record, produced and acknowledged alone.

    python bench/wire_proxy.py [--records 1000000] [--rounds 3]
"""

import argparse
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from confluent_kafka import Consumer, Producer, TopicPartition
from sink_stage import BROKER_FLAGS, percentile, say, table

from onceproof.cluster import topics
from onceproof.cluster.local import LocalCluster
from onceproof.cluster.ports import HeldPorts
from onceproof.wire.control import Wire

PARTITIONS = 6
LISTENERS = {"direct": "judge", "through the proxy": "suspects"}
SINGLES = 400
POLL_S_MAX = 30.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--records", type=int, default=1_000_000, help="of 100 bytes; a tenth of 1 kB"
    )
    parser.add_argument("--rounds", type=int, default=3, help="counted rounds, after a warm one")
    asked = parser.parse_args()
    ports = HeldPorts()
    with tempfile.TemporaryDirectory(prefix="onceproof-bench-") as scratch:
        folder = Path(scratch)
        with (
            Wire.start(
                record=folder / "wire", log=folder / "wire.log", seed=1, take_ports=ports.take
            ) as wire,
            LocalCluster.start(
                directory=folder / "brokers",
                logs=folder,
                jvm_flags=BROKER_FLAGS,
                advertise=only_clients(wire),
            ) as cluster,
        ):
            measure(cluster, asked)
            say(f"frames recorded: {wire.flush()}")
    ports.release()


def only_clients(wire: Wire) -> Callable[[int, str, str], str]:
    """What brokers say to each other stays between them."""

    def advertise(broker: int, listener: str, bound: str) -> str:
        return wire.advertise(broker, listener, bound) if listener == "SUSPECTS" else bound

    return advertise


def measure(cluster: LocalCluster, asked: argparse.Namespace) -> None:
    rates: dict[tuple[str, str], list[float]] = defaultdict(list)
    latencies: dict[str, list[float]] = defaultdict(list)
    for number in range(asked.rounds + 1):
        for size, records in ((100, asked.records), (1_000, asked.records // 5)):
            for way, listener in LISTENERS.items():
                topic = f"{listener}-{size}-{number}"
                topics.create_topic(cluster.client(), topic, partitions=PARTITIONS)
                server = cluster.bootstrap(listener)
                written = produce(server, topic, records, size)
                read = consume(server, topic, records)
                topics.delete_topic(cluster.client(), topic)
                if number > 0:
                    rates[f"write, {size} bytes", way].append(written)
                    rates[f"read, {size} bytes", way].append(read)
                say(f"round {number}, {size} bytes, {way}: {written:,.0f}/s, {read:,.0f}/s")
        if number > 0:
            for way, found in singles(cluster).items():
                latencies[way] += found
    report(rates, latencies)


def produce(server: str, topic: str, records: int, size: int) -> float:
    producer = Producer(
        {
            "bootstrap.servers": server,
            "acks": "all",
            "linger.ms": 20,
            "queue.buffering.max.messages": 500_000,
            "queue.buffering.max.kbytes": 200_000,
        }
    )
    value = b"x" * size
    began = time.monotonic()
    for number in range(records):
        while True:
            try:
                producer.produce(topic, value, partition=number % PARTITIONS)
                break
            except BufferError:
                producer.poll(0.05)
    assert producer.flush(120) == 0
    return records / (time.monotonic() - began)


def consume(server: str, topic: str, records: int) -> float:
    consumer = Consumer(
        {"bootstrap.servers": server, "group.id": "bench", "enable.auto.commit": False}
    )
    consumer.assign([TopicPartition(topic, number, 0) for number in range(PARTITIONS)])
    seen, began = 0, time.monotonic()
    while seen < records:
        found = consumer.consume(10_000, POLL_S_MAX)
        assert found, f"only {seen} of {records} records came"
        seen += len(found)
    rate = records / (time.monotonic() - began)
    consumer.close()
    return rate


def singles(cluster: LocalCluster) -> dict[str, list[float]]:
    """Milliseconds of one record, produced and acknowledged alone; the two ways in turns."""
    topic = f"singles-{time.monotonic_ns()}"
    topics.create_topic(cluster.client(), topic, partitions=1)
    producers = {
        way: Producer({"bootstrap.servers": cluster.bootstrap(listener), "linger.ms": 0})
        for way, listener in LISTENERS.items()
    }
    found: dict[str, list[float]] = defaultdict(list)
    for _ in range(SINGLES):
        for way, producer in producers.items():
            began = time.perf_counter()
            producer.produce(topic, b"x" * 100)
            producer.flush(10)
            found[way].append((time.perf_counter() - began) * 1000)
    topics.delete_topic(cluster.client(), topic)
    return {way: values[SINGLES // 10 :] for way, values in found.items()}


def report(rates: dict[tuple[str, str], list[float]], latencies: dict[str, list[float]]) -> None:
    rows = []
    direct, proxied = LISTENERS
    for what in dict.fromkeys(what for what, _ in rates):
        straight, through = (statistics.median(rates[what, way]) for way in (direct, proxied))
        rows.append([what, f"{straight:,.0f}/s", f"{through:,.0f}/s", f"{through / straight:.2f}×"])
    straight, through = (statistics.median(latencies[way]) for way in (direct, proxied))
    more = f"+{through - straight:.2f} ms"
    rows.append(["one record, median", f"{straight:.2f} ms", f"{through:.2f} ms", more])
    tails = [percentile(latencies[way], 90) for way in (direct, proxied)]
    more = f"+{tails[1] - tails[0]:.2f} ms"
    rows.append(["one record, p90", f"{tails[0]:.2f} ms", f"{tails[1]:.2f} ms", more])
    table(
        "**Through the proxy**, every frame decoded and recorded", ["", direct, proxied, ""], rows
    )


if __name__ == "__main__":
    main()
