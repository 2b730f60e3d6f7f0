"""Three brokers to the first committed transaction: as a user starts them, and as we do.

plain  format three directories with Kafka's tool, start three brokers at once with the flags of
       kafka-server-start.sh and Kafka's own timeouts
ours   LocalCluster.start, warm; then with one lever at a time left out

Run it on an idle machine: python bench/cluster_start.py [rounds]. The best of all rounds counts.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from onceproof.cluster import readiness
from onceproof.cluster.broker import Broker
from onceproof.cluster.jvm import DEFAULT_VERSION, JVM_FLAGS, broker_software
from onceproof.cluster.local import LocalCluster
from onceproof.cluster.ports import HeldPorts
from onceproof.cluster.settings import JUDGE, LISTENERS, BrokerPlan, identity, replication, to_text
from onceproof.cluster.template import format_storage, new_kafka_id
from onceproof.deadline import Deadline

START_S_MAX = 180
PLAIN_FLAGS = ("-Xmx1G", "-Xms1G", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20")
WITHOUT_C1_ONLY = tuple(flag for flag in JVM_FLAGS if "Tiered" not in flag)
WITH_G1 = tuple(flag.replace("SerialGC", "G1GC") for flag in JVM_FLAGS)


def plain(directory: Path) -> float:
    software = broker_software(DEFAULT_VERSION)
    ports = HeldPorts()
    plans = [
        BrokerPlan(
            id=id,
            ports=dict(zip(LISTENERS, ports.take(len(LISTENERS)), strict=True)),
            directory=directory / f"broker-{id}",
        )
        for id in (1, 2, 3)
    ]
    cluster_id = new_kafka_id()
    began = time.monotonic()
    brokers = []
    for plan in plans:
        plan.directory.mkdir()
        properties = {**identity(plan, plans), **replication(len(plans))}
        plan.properties_file.write_text(to_text(properties))
        format_storage(
            plan.data, plan.properties_file, software.java, software.classpath, cluster_id
        )
        command = software.command(plan.properties_file, jvm_flags=PLAIN_FLAGS)
        brokers.append(Broker(plan, command, plan.directory / "broker.log"))
    try:
        for broker in brokers:
            broker.start()
        deadline = Deadline(START_S_MAX)
        bootstrap = ",".join(plan.bound(JUDGE) for plan in plans)
        with readiness.connect(bootstrap, deadline, lambda: None) as client:
            readiness.wait_ready(client, {1, 2, 3}, deadline)
        return time.monotonic() - began
    finally:
        for broker in brokers:
            broker.kill()
        ports.release()


def ours(*jvm_flags: str) -> Callable[[Path], float]:
    def start(directory: Path) -> float:
        began = time.monotonic()
        with LocalCluster.start(
            directory=directory / "data",
            logs=directory / "logs",
            jvm_flags=jvm_flags,
            deadline=Deadline(START_S_MAX),
        ):
            return time.monotonic() - began

    return start


VARIANTS: dict[str, Callable[[Path], float]] = {
    "plain": plain,
    "ours": ours(*JVM_FLAGS),
    "ours, no class-data sharing": ours(*JVM_FLAGS, "-Xshare:off"),
    "ours, second compiler on": ours(*WITHOUT_C1_ONLY),
    "ours, G1 collector": ours(*WITH_G1),
}


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    best = dict.fromkeys(VARIANTS, float("inf"))
    with tempfile.TemporaryDirectory() as scratch:
        for warm_up in ("formats the template, records classes", "maps them"):
            ours(*JVM_FLAGS)(Path(tempfile.mkdtemp(dir=scratch)))
            sys.stderr.write(f"warm-up done: {warm_up}\n")
        for _ in range(rounds):
            for name, start in VARIANTS.items():
                seconds = start(Path(tempfile.mkdtemp(dir=scratch)))
                best[name] = min(best[name], seconds)
                sys.stderr.write(f"{name}: {seconds:.1f} s\n")
    for name, seconds in best.items():
        sys.stdout.write(f"{name:30} {seconds:5.1f} s   {best['plain'] / seconds:4.1f} : 1\n")


if __name__ == "__main__":
    main()
