"""The user's options as Java's client has them. Pure.

They were Java's to begin with; what is librdkafka's own, or an alias of it, only Python can take.
"""

from collections.abc import Collection, Mapping

from onceproof.sink.client.fates import Owned, Refused
from onceproof.sink.client.stores import java_store_types
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
_JAVAS_DELIVERY_MS, _JAVAS_REQUEST_MS, _JAVAS_BLOCK_MS = 120_000, 30_000, 60_000
_JAVAS_LINGER_MS = 5  # 0 before Kafka 4.0
# What librdkafka calls "none" Java says by nothing.
_SAID_BY_NOTHING = "ssl.endpoint.identification.algorithm"
_READER = {
    "enable.auto.commit": "false",
    "auto.offset.reset": "none",
    "allow.auto.create.topics": "false",
    "fetch.max.wait.ms": "20",
}
_SHARED = ("bootstrap.servers", "client.id", "client.dns.lookup", "security.", "ssl.", "sasl.")


def only_pythons(options: Mapping[str, str], known: Collection[str]) -> list[str]:
    """Options that Java's producer does not take; those that mean nothing to a sink left out."""
    given = _of_the_user(options).items()
    return sorted(
        f"{PREFIX}{name}" for name, value in given if name not in known or _is_no_javas(name, value)
    )


def _is_no_javas(name: str, value: str) -> bool:
    """librdkafka's own way to say it."""
    inherits = (name, value) == ("compression.type", "inherit")
    return inherits or (name == "linger.ms" and not value.isdigit())


def producer_settings(
    options: Mapping[str, str], settings: Settings, known: Collection[str]
) -> dict[str, str]:
    given = _of_the_user(options)
    ours = {name: value for name, value in _PRODUCER.items() if _fits(name, given, known)}
    if "batch.size" in ours and "max.request.size" in given:
        # Java bounds no batch by it, and a batch that is too large is split as it was.
        ours["batch.size"] = str(min(int(ours["batch.size"]), int(given["max.request.size"])))
    both = {**ours, **given, **_as_java_says(given)}
    return {
        **both,
        **_within_a_transaction(both, settings.transaction_timeout_ms),
        "acks": "all",
        "enable.idempotence": "true",
        "transaction.timeout.ms": str(settings.transaction_timeout_ms),
    }


def _within_a_transaction(given: Mapping[str, str], limit_ms: int) -> dict[str, str]:
    """As translation.py does for Python; Java wants linger and request within the delivery."""
    delivery = min(int(given.get("delivery.timeout.ms", _JAVAS_DELIVERY_MS)), limit_ms)
    request_max = max(1, delivery - int(given.get("linger.ms", _JAVAS_LINGER_MS)))
    request = min(int(given.get("request.timeout.ms", _JAVAS_REQUEST_MS)), request_max)
    block = min(int(given.get("max.block.ms", _JAVAS_BLOCK_MS)), limit_ms)
    return {
        "delivery.timeout.ms": str(delivery),
        "request.timeout.ms": str(request),
        "max.block.ms": str(block),
    }


def _as_java_says(given: Mapping[str, str]) -> dict[str, str]:
    said = java_store_types(given)
    if given.get(_SAID_BY_NOTHING, "").lower() == "none":
        said[_SAID_BY_NOTHING] = ""
    return said


def _fits(name: str, given: Mapping[str, str], known: Collection[str]) -> bool:
    """Whether the user has said nothing with which our own value would be refused."""
    return name in known and _SPEAKS_AGAINST.get(name) not in given


def reader_settings(options: Mapping[str, str]) -> dict[str, str]:
    """Of the ledger; only how to get there is the user's."""
    given = _of_the_user(options)
    shared = {name: value for name, value in given.items() if name.startswith(_SHARED)}
    return {**shared, **_as_java_says(given), **_READER}


def _of_the_user(options: Mapping[str, str]) -> dict[str, str]:
    plain = {name.removeprefix(PREFIX): str(value) for name, value in options.items()}
    return {
        name: value
        for name, value in plain.items()
        # What is refused, and was not, says what is so anyway.
        if name not in OF_CONSUMERS and not isinstance(TABLE.get(name), Owned | Refused)
    }
