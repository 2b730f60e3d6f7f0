"""What every consumer here needs of the environment contract: addresses, a way to end, a voice."""

import json
import os
import signal
import sys
from types import FrameType
from typing import Any

from confluent_kafka import Message

CALL_S = 30.0
BATCH_WAIT_S = 0.2


def given(name: str) -> str:
    return os.environ[f"ONCEPROOF_{name}"]


def setting(name: str, default: str) -> str:
    """One of `--set name=value`."""
    return str(json.loads(given("SETTINGS")).get(name, default))


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
    protocol = setting("group_protocol", "classic")
    # In the new protocol (KIP-848) the broker says how long a silent member is waited for.
    session = {"session.timeout.ms": 3_000, "heartbeat.interval.ms": 500}
    return {
        **connection(),
        "group.id": given("APP_ID"),
        "isolation.level": "read_committed",
        "enable.auto.commit": False,
        "auto.offset.reset": "earliest",
        "group.protocol": protocol,
        **(session if protocol == "classic" else {}),
        **changes,
    }


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
