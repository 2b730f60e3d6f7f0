"""Idle commits into the partitions of `__consumer_offsets` that a broker leads.

Whoever takes such a partition over must load it first, and with the classic coordinator one thread
does that and much else besides. It is filled as an administrator's client may do it: by writing
commits of a group that nobody uses.
"""

import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from onceproof.deadline import Deadline
from onceproof.errors import FaultError, UsageError, unknown_name
from onceproof.faults.fault import SeenAtOnce
from onceproof.faults.victim import Victim

if TYPE_CHECKING:
    from onceproof.cluster.client import BrokerClient

FILL = "fill_offsets"
PARAMETER = "commits"
TOPIC = "__consumer_offsets"
ADMIN_CLIENT = "__admin_client"  # the one client that may write to an internal topic
CHUNK = 20_000
FILL_S_MAX = 120.0
_KEY_VERSION, _VALUE_VERSION = 1, 3
NO_EPOCH = -1


class FillOffsets(SeenAtOnce):
    def __init__(
        self, victim: Victim, client: "BrokerClient", parameters: Mapping[str, Any]
    ) -> None:
        self._victim = victim
        self._client = client
        self._commits = int(parameters[PARAMETER])

    def inject(self) -> str:
        """How much longer the log is then shows it: a lost write would be missing there."""
        from onceproof.cluster.roles import partition_leaders
        from onceproof.cluster.topics import end_offsets

        leaders = partition_leaders(self._client, TOPIC)
        led = [each for each, leader in leaders.items() if f"broker {leader}" == self._victim.name]
        if not led:
            raise FaultError(f"{self._victim.name} leads no partition of {TOPIC}")
        before = end_offsets(self._client, TOPIC)
        for partition in led:
            fill(self._client.bootstrap_server, partition, self._commits)
        after = end_offsets(self._client, TOPIC)
        grown = {each: after[each] - before[each] for each in led}
        if min(grown.values()) < self._commits:
            raise FaultError(f"{TOPIC} took {grown} commits of {self._commits} each")
        places = ", ".join(f"{TOPIC}-{each} grew by {more}" for each, more in grown.items())
        return f"{self._commits} commits of an idle group: {places}"

    def heal(self) -> None:
        """They stay: nobody asks for them."""

    def is_healed(self) -> bool:
        return self._victim.is_running()


def check_fill(action: str, given: Mapping[str, Any]) -> None:
    for name in sorted(set(given) - {PARAMETER}):
        raise unknown_name(f"parameter of {action}", name, (PARAMETER,))
    value = given.get(PARAMETER)
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        raise UsageError(f"a fault's `{PARAMETER}` must be a whole number from 1; got {value!r}")


def fill(bootstrap_server: str, partition: int, commits: int) -> None:
    """Returns when nothing is under way any more."""
    import confluent_kafka

    settings = {
        "bootstrap.servers": bootstrap_server,
        "client.id": ADMIN_CLIENT,
        "acks": "all",
        "compression.type": "lz4",
        "linger.ms": 20,
        "batch.size": 1_000_000,
        "queue.buffering.max.messages": 4 * CHUNK,
        "log_level": 3,
    }
    producer = confluent_kafka.Producer(settings)
    key, left = commit_key("onceproof-idle", "idle", partition), Deadline(FILL_S_MAX)
    for number in range(commits):
        producer.produce(TOPIC, key=key, value=commit_value(number), partition=partition)
        while number % CHUNK == 0 and len(producer) > 2 * CHUNK:
            producer.poll(0.01)
            if left.expired():
                raise _too_slow(partition)
    if producer.flush(left.remaining_s()):
        raise _too_slow(partition)


def _too_slow(partition: int) -> FaultError:
    return FaultError(f"{TOPIC}-{partition} could not be filled in {FILL_S_MAX:.0f} s")


def commit_key(group: str, topic: str, partition: int) -> bytes:
    return (
        struct.pack(">h", _KEY_VERSION) + _text(group) + _text(topic) + struct.pack(">i", partition)
    )


def commit_value(position: int) -> bytes:
    """Position, no leader's epoch, no metadata, committed at 0 ms."""
    head = struct.pack(">hqi", _VALUE_VERSION, position, NO_EPOCH)
    return head + _text("") + struct.pack(">q", 0)


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack(">h", len(data)) + data
