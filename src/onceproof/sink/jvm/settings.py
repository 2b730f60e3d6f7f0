"""The user's options as Java's client has them. Pure.

They were Java's to begin with; what is librdkafka's own, or an alias of it, only Python can take.
"""

from collections.abc import Collection, Mapping

from onceproof.sink.client.fates import Owned, Refused
from onceproof.sink.client.table import OF_CONSUMERS, TABLE
from onceproof.sink.client.translation import PREFIX
from onceproof.sink.settings import Settings

_PRODUCER = {
    # As the lanes that Python writes (settings.py of the sink): full batches. How much memory they
    # may take depends on the executor's heap (LaneWriter.java).
    "linger.ms": "200",
    "batch.size": "1000000",
    # A producer lives for one transaction: nobody wants its metrics.
    "enable.metrics.push": "false",
}
_SPEAKS_AGAINST = {"linger.ms": "delivery.timeout.ms", "batch.size": "buffer.memory"}
_READER = {
    "enable.auto.commit": "false",
    "auto.offset.reset": "none",
    "allow.auto.create.topics": "false",
    "fetch.max.wait.ms": "20",
}
_SHARED = ("bootstrap.servers", "client.id", "client.dns.lookup", "security.", "ssl.", "sasl.")


def only_pythons(options: Mapping[str, str], known: Collection[str]) -> list[str]:
    """Options that Java's producer does not know; those that mean nothing to a sink left out."""
    return sorted(f"{PREFIX}{name}" for name in _of_the_user(options) if name not in known)


def producer_settings(
    options: Mapping[str, str], settings: Settings, known: Collection[str]
) -> dict[str, str]:
    given = _of_the_user(options)
    return {
        **{name: value for name, value in _PRODUCER.items() if _fits(name, given, known)},
        **given,
        "acks": "all",
        "enable.idempotence": "true",
        "transaction.timeout.ms": str(settings.transaction_timeout_ms),
    }


def _fits(name: str, given: Mapping[str, str], known: Collection[str]) -> bool:
    """Whether the user has said nothing with which our own value would be refused."""
    return name in known and _SPEAKS_AGAINST.get(name) not in given


def reader_settings(options: Mapping[str, str]) -> dict[str, str]:
    """Of the ledger; only how to get there is the user's."""
    shared = {
        name: value for name, value in _of_the_user(options).items() if name.startswith(_SHARED)
    }
    return {**shared, **_READER}


def _of_the_user(options: Mapping[str, str]) -> dict[str, str]:
    plain = {name.removeprefix(PREFIX): str(value) for name, value in options.items()}
    return {
        name: value
        for name, value in plain.items()
        # What is refused, and was not, says what is so anyway.
        if name not in OF_CONSUMERS and not isinstance(TABLE.get(name), Owned | Refused)
    }
