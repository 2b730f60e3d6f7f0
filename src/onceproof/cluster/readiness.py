"""When a cluster is ready: all brokers live, both coordinators found, one transaction committed.

Kafka makes its internal topics when a coordinator is first looked for. Asking here, quickly and
often, spares the first client its own slow retries.
"""

import logging
from collections.abc import Callable
from typing import Any

import confluent_kafka

from onceproof.cluster.client import BrokerClient
from onceproof.cluster.roles import group_coordinator, transaction_coordinator
from onceproof.cluster.topics import create_topic
from onceproof.deadline import Deadline, wait_until
from onceproof.errors import ClusterError

READY_TOPIC = "__onceproof_ready"
READY_ID = "onceproof-ready"
_ATTEMPT_S_MAX = 3.0

# librdkafka reports each refused connection; without a logger it writes to stderr.
_librdkafka = logging.getLogger("onceproof.librdkafka")
_librdkafka.addHandler(logging.NullHandler())
_librdkafka.propagate = False


def connect(
    bootstrap_server: str, deadline: Deadline, require_alive: Callable[[], None]
) -> BrokerClient:
    """A client of the cluster as soon as any broker answers; stops at once where a broker dies."""

    def attempt() -> BrokerClient | None:
        require_alive()
        try:
            return BrokerClient(bootstrap_server, deadline=deadline.at_most(_ATTEMPT_S_MAX))
        except ClusterError:
            return None

    return wait_until(attempt, deadline, f"no broker answers at {bootstrap_server}")


def wait_ready(
    client: BrokerClient,
    brokers: set[int],
    deadline: Deadline,
    require_alive: Callable[[], None] = lambda: None,
) -> None:
    """Until the cluster is ready; `require_alive` raises where waiting has become pointless."""
    _wait(lambda: brokers <= client.live_brokers(), "live brokers", deadline, require_alive)
    # The first questions make Kafka create both internal topics; they are repeated until answered.
    _wait(
        lambda: transaction_coordinator(client, READY_ID) in brokers,
        "transaction coordinator",
        deadline,
        require_alive,
    )
    _wait(
        lambda: group_coordinator(client, READY_ID) in brokers,
        "group coordinator",
        deadline,
        require_alive,
    )
    create_topic(client, READY_TOPIC, partitions=1, exists_ok=True, deadline=deadline)
    commit_transaction(client.bootstrap_server, READY_TOPIC, deadline)


def _wait(
    condition: Callable[[], bool],
    what: str,
    deadline: Deadline,
    require_alive: Callable[[], None],
) -> None:
    last_refusal = "none"

    def attempt() -> bool:
        nonlocal last_refusal
        require_alive()
        try:
            return condition()
        except ClusterError as error:
            last_refusal = str(error)
            return False

    wait_until(attempt, deadline, lambda: f"no {what}; last answer: {last_refusal}", pause_s=0.02)


def commit_transaction(bootstrap_server: str, topic: str, deadline: Deadline) -> None:
    """One record in one transaction, as a client of the outside world does it."""
    settings: dict[str, Any] = {
        "bootstrap.servers": bootstrap_server,
        "transactional.id": READY_ID,
        "client.id": READY_ID,
        "transaction.timeout.ms": 10000,
        "linger.ms": 0,
    }
    producer = confluent_kafka.Producer(settings, logger=_librdkafka)
    try:
        producer.init_transactions(deadline.remaining_s())
        producer.begin_transaction()
        producer.produce(topic, value=b"ready")
        producer.commit_transaction(deadline.remaining_s())
    except confluent_kafka.KafkaException as error:
        said = error.args[0].str()
        raise ClusterError(
            f"no transaction could be committed on {bootstrap_server}: {said}"
        ) from error
