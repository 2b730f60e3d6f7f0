"""Runs on the driver. The ledger's topic: made, grown on demand, refused where it would forget."""

import logging

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    ConfigResource,
    NewPartitions,
    NewTopic,
)

from onceproof.sink.budget import Budget, pause
from onceproof.sink.errors import LaneError, SinkError
from onceproof.sink.ledger.reader import client_log
from onceproof.sink.producing.refusals import failure
from onceproof.sink.settings import Settings

ADMIN_S = 15.0  # then librdkafka tells that it timed out, and the batch is tried again
PAUSE_S = 0.05
# With so few brokers a producer may connect to all of them ahead, which saves it some 60 ms.
EAGER_BROKERS_MAX = 12
_VERIFICATION = "transaction.partition.verification.enable"  # since Kafka 3.6 (KIP-890)
_log = logging.getLogger("onceproof.sink")


def ensure_ledger(settings: Settings, lanes: int) -> int:
    """One partition for manifests and one for each lane; tells the number of brokers."""
    admin = AdminClient(settings.admin(), logger=client_log)
    try:
        return _ensure(admin, settings.ledger_topic, lanes + 1)
    except KafkaException as error:
        cause = error.args[0]
        raise failure(f"ledger {settings.ledger_topic}", cause.code(), cause.str()) from error


def _ensure(admin: AdminClient, topic: str, partitions_wanted: int) -> int:
    present = admin.list_topics(timeout=ADMIN_S)
    if topic not in present.topics:
        _create(admin, topic, partitions_wanted)
        _wait_until_known(admin, topic, partitions_wanted)
        return len(present.brokers)
    _refuse_a_ledger_that_forgets(admin, topic)
    partitions = len(present.topics[topic].partitions)
    if partitions < partitions_wanted:
        wanted = NewPartitions(topic, partitions_wanted)
        admin.create_partitions([wanted], request_timeout=ADMIN_S)[topic].result()
        _wait_until_known(admin, topic, partitions_wanted)
    return len(present.brokers)


def _create(admin: AdminClient, topic: str, partitions: int) -> None:
    # replication -1: the broker's default, which is what its operator decided on.
    ledger = NewTopic(topic, partitions, -1, config={"cleanup.policy": "compact"})
    try:
        admin.create_topics([ledger], request_timeout=ADMIN_S)[topic].result()
    except KafkaException as error:
        if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            raise


def _wait_until_known(admin: AdminClient, topic: str, partitions: int) -> None:
    budget = Budget(ADMIN_S)
    while not budget.spent():
        known = admin.list_topics(topic, timeout=ADMIN_S).topics[topic].partitions
        if len(known) >= partitions and all(each.leader >= 0 for each in known.values()):
            return
        pause(PAUSE_S)
    raise LaneError(f"ledger {topic} has no leaders for its {partitions} partitions yet")


def _refuse_a_ledger_that_forgets(admin: AdminClient, topic: str) -> None:
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
    found = admin.describe_configs([resource], request_timeout=ADMIN_S)[resource].result()
    policy = found["cleanup.policy"].value
    if policy != "compact":
        raise SinkError(
            f"ledger {topic} has cleanup.policy={policy}; expected compact:"
            " its entries would expire"
        )


def require_ledger(settings: Settings) -> None:
    """SinkError where there is none: nothing is made for somebody who only wants to look."""
    admin = AdminClient(settings.admin(), logger=client_log)
    try:
        topics = admin.list_topics(timeout=ADMIN_S).topics  # all: asked for by name it may be made
    except KafkaException as error:
        cause = error.args[0]
        raise failure(f"ledger {settings.ledger_topic}", cause.code(), cause.str()) from error
    if settings.ledger_topic not in topics:
        raise SinkError(
            f"there is no ledger {settings.ledger_topic}; is the sink's id right? A sink that was"
            " given a ledger_topic needs --ledger-topic"
        )


def warn_of_old_brokers(settings: Settings) -> None:
    """Brokers below 3.6 cannot tell a late produce request from a timely one."""
    admin = AdminClient(settings.admin(), logger=client_log)
    try:
        any_broker = str(next(iter(admin.list_topics(timeout=ADMIN_S).brokers)))
        resource = ConfigResource(ConfigResource.Type.BROKER, any_broker)
        asked = admin.describe_configs([resource], request_timeout=ADMIN_S)
        known = asked[resource].result()
    except KafkaException as error:
        _log.warning(
            "sink %s: could not ask the brokers whether they verify transactional writes (Kafka 3.6"
            " and later do): %s",
            settings.sink_id,
            error.args[0].str(),
        )
        return
    if _VERIFICATION not in known or known[_VERIFICATION].value != "true":
        _log.warning(
            "sink %s: these brokers do not verify transactional writes (Kafka below 3.6, or %s is"
            " off): a produce request that is delayed beyond its transaction can hang or leak"
            " records",
            settings.sink_id,
            _VERIFICATION,
        )
