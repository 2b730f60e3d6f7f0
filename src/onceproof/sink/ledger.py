"""The ledger: a compacted topic whose entries never expire.

Read only after a fence: then nobody else can add to that partition any more, and the last entry
below the high watermark is the last one there will be. The other order (restore, then fence) loses
the entry that a predecessor commits in between.
"""

from confluent_kafka import (
    Consumer,
    KafkaError,
    KafkaException,
    TopicPartition,
)
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    ConfigResource,
    NewPartitions,
    NewTopic,
)

from onceproof.sink.budget import Budget, pause
from onceproof.sink.entries import Manifest, Token, read_entry
from onceproof.sink.errors import LaneError, SinkError
from onceproof.sink.settings import Settings
from onceproof.sink.transactions import _log

READ_S_MAX = 60.0
ADMIN_S = 15.0
FIRST_LOOK_BACK = 64  # entries are followed by a marker, aborted ones lie between: enough at once
PAUSE_S = 0.1


def ensure_ledger(settings: Settings, lanes: int) -> None:
    """Runs on the driver. One partition for manifests and one for each lane; grown on demand."""
    admin = AdminClient(settings.admin(), logger=_log)
    wanted = lanes + 1
    present = admin.list_topics(timeout=ADMIN_S).topics
    if settings.ledger_topic not in present:
        _create(admin, settings.ledger_topic, wanted)
        return
    _refuse_a_ledger_that_forgets(admin, settings.ledger_topic)
    partitions = len(present[settings.ledger_topic].partitions)
    if partitions < wanted:
        grown = admin.create_partitions([NewPartitions(settings.ledger_topic, wanted)])
        grown[settings.ledger_topic].result(ADMIN_S)


def _create(admin: AdminClient, topic: str, partitions: int) -> None:
    # replication -1: the broker's default, which is what its operator decided on.
    ledger = NewTopic(topic, partitions, -1, config={"cleanup.policy": "compact"})
    try:
        admin.create_topics([ledger])[topic].result(ADMIN_S)
    except KafkaException as error:
        if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            raise SinkError(
                f"ledger {topic} could not be created: {error.args[0].str()}"
            ) from error


def _refuse_a_ledger_that_forgets(admin: AdminClient, topic: str) -> None:
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
    policy = admin.describe_configs([resource])[resource].result(ADMIN_S)["cleanup.policy"].value
    if policy != "compact":
        raise SinkError(
            f"ledger {topic} has cleanup.policy={policy}; expected compact:"
            " its entries would expire"
        )


def last_entry(settings: Settings, partition: int) -> Manifest | Token | None:
    """Runs on driver and executors. The last committed entry of a partition; call it fenced."""
    place = TopicPartition(settings.ledger_topic, partition)
    budget = Budget(READ_S_MAX)
    low, high = _watermarks(settings, place, budget)
    if high <= low:
        return None
    consumer = Consumer(settings.reader("read_committed"), logger=_log)
    try:
        look_back = FIRST_LOOK_BACK
        while True:
            start = max(low, high - look_back)
            entry = _last_between(consumer, place, start, high, budget)
            if entry is not None or start == low:
                return entry
            look_back *= 8  # only markers and aborted entries so far: further back
    finally:
        consumer.close()


def _watermarks(settings: Settings, place: TopicPartition, budget: Budget) -> tuple[int, int]:
    """Log start and high watermark: a consumer is told them by its own isolation level."""
    consumer = Consumer(settings.reader("read_uncommitted"), logger=_log)
    try:
        while True:
            try:
                low, high = consumer.get_watermark_offsets(place, timeout=budget.left_s() + 0.1)
                return low, high
            except KafkaException as error:
                if budget.spent():
                    raise LaneError(f"watermarks of {_named(place)}: {error}") from error
                pause(PAUSE_S)
    finally:
        consumer.close()


def _named(place: TopicPartition) -> str:
    return f"{place.topic}-{place.partition}"


def _last_between(
    consumer: Consumer, place: TopicPartition, start: int, high: int, budget: Budget
) -> Manifest | Token | None:
    """Read from `start` until the last stable offset has reached `high`, however long that takes.

    An entry hidden behind an open transaction is not "no entry": only an end-of-partition at or
    beyond the high watermark says that everything below it has been seen.
    """
    # A plain number: the name "beginning" costs librdkafka a look-up and half a second.
    consumer.assign([TopicPartition(place.topic, place.partition, start)])
    last = None
    while not budget.spent():
        message = consumer.poll(min(1.0, budget.left_s()))
        if message is None:
            continue
        problem, offset, value = message.error(), message.offset() or 0, message.value()
        if problem is None and value is not None:
            last = read_entry(value)
            if offset + 1 >= high:
                return last
        elif problem is None:
            raise LaneError(f"ledger {_named(place)}@{offset} has no value")
        elif problem.code() == KafkaError._PARTITION_EOF:
            if offset >= high:
                return last
        elif not problem.retriable() and problem.fatal():
            raise LaneError(f"ledger {_named(place)} cannot be read: {problem.str()}")
    raise LaneError(
        f"ledger {_named(place)} was not stable up to offset {high} after"
        f" {READ_S_MAX:.0f} s; an open transaction holds it"
    )
