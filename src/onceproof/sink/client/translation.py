"""The door: options as Spark takes them in, librdkafka's settings out."""

import logging
from collections.abc import Mapping
from difflib import get_close_matches

from onceproof.sink.client.fates import (
    Ignored,
    Owned,
    Passed,
    Refused,
    Together,
    refusal,
    whole_number,
)
from onceproof.sink.client.librdkafka import KNOWN
from onceproof.sink.client.login import login_settings
from onceproof.sink.client.stores import store_settings
from onceproof.sink.client.table import TABLE
from onceproof.sink.errors import SinkError

PREFIX = "kafka."
TRANSACTION_TIMEOUT_MS = 60_000  # librdkafka's and Java's default
COMPRESSION_LEVEL_MAX = 12
NEAREST_MAX = 3
_WITHIN_A_TRANSACTION = ("delivery.timeout.ms", "message.timeout.ms", "socket.timeout.ms")
_log = logging.getLogger("onceproof.sink")


def translate(options: Mapping[str, str]) -> dict[str, str]:
    """librdkafka's settings for `options`, Spark's way: a client's setting behind `kafka.`.

    1. each name by itself, as table.py and librdkafka.py say
    2. stores, login and compression, whose settings only make sense together
    3. timeouts that librdkafka wants within the transaction's
    """
    given = {_plain(name): str(value) for name, value in options.items()}
    settings: dict[str, str] = {}
    for name, value in given.items():
        _add(settings, _alone(name, value), name)
    _add(settings, store_settings(given), "ssl.truststore.location or kafka.ssl.keystore.location")
    _add(settings, login_settings(given), "sasl.jaas.config")
    _add(settings, _compression_level(given), "compression.type")
    return _within_a_transaction(settings)


def _plain(option: str) -> str:
    if not option.startswith(PREFIX):
        raise SinkError(f"unknown option {option!r}; client settings begin with 'kafka.'")
    return option.removeprefix(PREFIX)


def _alone(name: str, value: str) -> dict[str, str]:
    """What becomes of one setting that needs no other to be decided."""
    fate = TABLE.get(name)
    match fate:
        case Passed():
            return {fate.to or name: fate.change(value, name)}
        case Ignored():
            # Spark's JVM, where it writes, is given what Java's producer knows.
            _log.warning(
                "option 'kafka.%s' is ignored where rows go through Python: %s", name, fate.why
            )
        case Owned():
            if value.lower() not in fate.always:
                raise SinkError(f"option 'kafka.{name}' is set by the sink itself; leave it out")
        case Refused():
            if value not in fate.unless:
                raise refusal(name, fate.why)
        case Together():
            pass
        case None:
            return {_known(name): value}
    return {}


def _known(name: str) -> str:
    if name in KNOWN:
        return name
    nearest = get_close_matches(name, KNOWN | TABLE.keys(), n=NEAREST_MAX)
    known = ", ".join(f"'kafka.{each}'" for each in nearest) or "none is near it"
    raise SinkError(f"unknown option 'kafka.{name}'; nearest known: {known}")


def _add(settings: dict[str, str], more: Mapping[str, str], option: str) -> None:
    for name, value in more.items():
        if settings.setdefault(name, value) != value:
            raise SinkError(
                f"option 'kafka.{option}' means librdkafka's {name}, which another option gives"
                " another value; leave one out"
            )


def _compression_level(given: Mapping[str, str]) -> dict[str, str]:
    """Java has a level for each codec, librdkafka one for the codec in use."""
    option = f"compression.{given.get('compression.type', 'none').lower()}.level"
    if option not in given:
        return {}
    level = whole_number(given[option], option)
    if level > COMPRESSION_LEVEL_MAX:
        raise refusal(option, f"got {level}; librdkafka's levels end at {COMPRESSION_LEVEL_MAX}")
    return {"compression.level": str(level)}


def _within_a_transaction(settings: dict[str, str]) -> dict[str, str]:
    """Java allows longer timeouts, but what comes after the transaction's cannot be committed."""
    timeout = settings.get("transaction.timeout.ms", str(TRANSACTION_TIMEOUT_MS))
    limit_ms = whole_number(timeout, "transaction.timeout.ms")
    for name in _WITHIN_A_TRANSACTION:
        if name in settings and whole_number(settings[name], name) > limit_ms:
            settings[name] = timeout
    return settings
