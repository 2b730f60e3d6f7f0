"""What every consumer here needs of the environment contract: addresses, a way to end, a voice."""

import json
import os
import signal
import sys
from collections.abc import Callable
from functools import cache
from types import FrameType
from typing import Any

from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition

from onceproof.deadline import pause

CALL_S = 30.0
BATCH_WAIT_S = 0.2
ASSIGNORS = ("range", "roundrobin", "cooperative-sticky")
PROTOCOLS = ("classic", "consumer")


def given(name: str) -> str:
    return os.environ[f"ONCEPROOF_{name}"]


def setting(name: str, default: str) -> str:
    """One of `--set name=value`."""
    return str(_settings(given("SETTINGS")).get(name, default))


@cache
def _settings(text: str) -> dict[str, Any]:
    """Asked for with every record."""
    settings: dict[str, Any] = json.loads(text)
    return settings


def choice(name: str, known: tuple[str, ...]) -> str:
    """A setting that is one of some; the first is the default."""
    chosen = setting(name, known[0])
    if chosen not in known:
        say("misconfigured", why=f"--set {name} takes {', '.join(known)}; got {chosen!r}")
        raise SystemExit(f"unknown {name}: {chosen}")
    return chosen


def say(event: str, **facts: object) -> None:
    sys.stdout.write(json.dumps({"event": event, **facts}) + "\n")
    sys.stdout.flush()


def batch_max() -> int:
    """How many records are one batch, or one transaction; `--set batch=N`."""
    return int(setting("batch", "100"))


class Ending:
    """SIGTERM asks; the loop ends when it looks next."""

    def __init__(self) -> None:
        self.asked = False
        signal.signal(signal.SIGTERM, self._ask)

    def _ask(self, _number: int, _frame: FrameType | None) -> None:
        self.asked = True


def connection() -> dict[str, Any]:
    return {"bootstrap.servers": given("BOOTSTRAP_SERVERS"), "log_level": 3}


def consumer_settings(**changes: Any) -> dict[str, Any]:
    """`--set assignor`: range stops the world at each rebalance, cooperative-sticky moves only
    what must move. `--set static_membership=true`: a member that comes back in time gets its
    partitions back without a rebalance. In the new protocol (KIP-848) the broker assigns, and says
    how long a silent member is waited for.
    """
    protocol = choice("group_protocol", PROTOCOLS)
    classic = {
        "session.timeout.ms": int(setting("session_timeout_ms", "3000")),
        "heartbeat.interval.ms": 500,
        "partition.assignment.strategy": choice("assignor", ASSIGNORS),
    }
    member = f"{given('APP_ID')}-{given('INSTANCE')}"
    is_static = choice("static_membership", ("false", "true")) == "true"
    return {
        **connection(),
        "group.id": given("APP_ID"),
        "isolation.level": "read_committed",
        "enable.auto.commit": False,
        "auto.offset.reset": "earliest",
        "max.poll.interval.ms": int(setting("max_poll_interval_ms", "300000")),
        "group.protocol": protocol,
        **(classic if protocol == "classic" else {}),
        **({"group.instance.id": member} if is_static else {}),
        **changes,
    }


def moves_only_what_must() -> bool:
    """Whether a rebalance tells changes only: the cooperative assignor, and the new protocol."""
    is_new = choice("group_protocol", PROTOCOLS) == "consumer"
    return is_new or choice("assignor", ASSIGNORS).startswith("cooperative")


def subscribe(consumer: Consumer) -> None:
    """What comes and goes with a rebalance is said, so that it is in the history of the run."""
    consumer.subscribe([given("INPUT_TOPIC")], on_assign=says("assigned"), **losses(says))


def losses(told: Callable[[str], Any]) -> dict[str, Any]:
    """Revoked: they go to another member in good order. Lost: they have gone already."""
    return {"on_revoke": told("revoked"), "on_lost": told("lost")}


def says(event: str) -> Callable[[Consumer, list[TopicPartition]], None]:
    """A callback of a rebalance that does nothing but say so."""

    def callback(_consumer: Consumer, partitions: list[TopicPartition]) -> None:
        say(event, partitions=sorted(each.partition for each in partitions))

    return callback


def producer_settings(**changes: Any) -> dict[str, Any]:
    # Java's partitioner: a key of the output is where the same key of the input would be.
    return {**connection(), "partitioner": "murmur2_random", **changes}


def records_of(messages: list[Message]) -> list[Message]:
    """Those that are records; what is an error of the client's passes by, or ends the program."""
    records = []
    for message in messages:
        error = message.error()
        if error is None:
            records.append(message)
        elif error.fatal():
            raise SystemExit(f"the consumer failed: {error}")
    return records


def copy_out(producer: Producer, records: list[Message]) -> None:
    """The work itself: each record to the output, unchanged; returns when it is acknowledged."""
    for record in records:
        work()
        producer.produce(given("OUTPUT_TOPIC"), key=record.key(), value=record.value())
        producer.poll(0)
    if producer.flush(CALL_S):
        raise SystemExit("output was not acknowledged in time")


def work() -> None:
    """`--set work_ms=N`: so long a record takes."""
    took_ms = int(setting("work_ms", "0"))
    if took_ms:
        pause(took_ms / 1000)


def by_partition(records: list[Message]) -> dict[int, list[Message]]:
    found: dict[int, list[Message]] = {}
    for record in records:
        found.setdefault(record.partition() or 0, []).append(record)
    return dict(sorted(found.items()))


def commit(consumer: Consumer, last: Message | None = None) -> bool:
    """All that was handed out, or one partition up to its `last` record. False: the partitions
    have gone to another member, who will read the batch again.
    """
    try:
        if last is None:
            consumer.commit(asynchronous=False)
        else:
            consumer.commit(message=last, asynchronous=False)
    except KafkaException as error:
        if error.args[0].fatal():
            raise
        say("refused", why=str(error))
        return False
    return True


def again(step: Callable[[], None]) -> None:
    """As often as the client says that it may be tried again."""
    while True:
        try:
            step()
            return
        except KafkaException as error:
            if not error.args[0].retriable():
                raise
