"""When a cluster is ready: all brokers live, both coordinators found, one transaction committed.

Kafka makes its internal topics when a coordinator is first looked for. Asking here, quickly and
often, spares the first client its own slow retries.
"""

import logging
from collections.abc import Callable, Iterable
from typing import Any

import confluent_kafka

from onceproof.cluster.client import BrokerClient
from onceproof.cluster.roles import group_coordinator, transaction_coordinator
from onceproof.cluster.topics import (
    create_topic,
    end_offsets,
    list_transactions,
    stable_offsets,
)
from onceproof.deadline import Deadline, wait_until
from onceproof.errors import ClusterError

READY_TOPIC = "__onceproof_ready"
READY_ID = "onceproof-ready"
_ATTEMPT_S_MAX = 1.0

# librdkafka reports each refused connection; without a logger it writes to stderr.
LIBRDKAFKA_LOG = logging.getLogger("onceproof.librdkafka")
LIBRDKAFKA_LOG.addHandler(logging.NullHandler())
LIBRDKAFKA_LOG.propagate = False


def connect(
    bootstrap_server: str, deadline: Deadline, require_alive: Callable[[], None]
) -> BrokerClient:
    """A client of the cluster as soon as any broker answers; stops at once where a broker dies."""

    def attempt() -> BrokerClient | None:
        require_alive()
        try:
            attempt_s = deadline.at_most(_ATTEMPT_S_MAX)
            return BrokerClient(bootstrap_server, deadline=attempt_s, explains=False)
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

    def wait(what: str, *conditions: Callable[[], bool]) -> None:
        _wait(what, conditions, deadline, require_alive)

    wait("all brokers live", lambda: brokers <= client.live_brokers())
    create_topic(client, READY_TOPIC, partitions=1, exists_ok=True, deadline=deadline)
    wait(
        "coordinators",
        lambda: transaction_coordinator(client, READY_ID) in brokers,
        lambda: group_coordinator(client, READY_ID) in brokers,
    )
    wait("transaction coordinators loaded", lambda: list_transactions(client) is not None)
    before = end_offsets(client, READY_TOPIC)[0]
    commit_transaction(client.bootstrap_server, READY_TOPIC, deadline)
    # A commit is answered before its marker is in the topic: one record and one marker.
    wait("the transaction visible", lambda: stable_offsets(client, READY_TOPIC)[0] >= before + 2)


def _wait(
    what: str,
    conditions: Iterable[Callable[[], bool]],
    deadline: Deadline,
    require_alive: Callable[[], None],
) -> None:
    """Until all hold; each is asked in each round, as asking is what sets Kafka to work."""
    unmet = list(conditions)
    refusal = "none"

    def holds(condition: Callable[[], bool]) -> bool:
        nonlocal refusal
        try:
            return condition()
        except ClusterError as error:
            refusal = str(error)
            return False

    def attempt() -> bool:
        require_alive()
        unmet[:] = [condition for condition in unmet if not holds(condition)]
        return not unmet

    wait_until(
        attempt,
        deadline,
        lambda: f"cluster not ready; still without {what}; last refusal: {refusal}",
        pause_s=0.02,
    )


def commit_transaction(bootstrap_server: str, topic: str, deadline: Deadline) -> None:
    """One record in one transaction, as a client of the outside world does it."""
    settings: dict[str, Any] = {
        "bootstrap.servers": bootstrap_server,
        "transactional.id": READY_ID,
        "client.id": READY_ID,
        "transaction.timeout.ms": 10000,
        "linger.ms": 0,
    }
    producer = confluent_kafka.Producer(settings, logger=LIBRDKAFKA_LOG)
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
