"""Runs on the driver. The first connection, so that a wrong password is told as one, in seconds.

librdkafka tries for ever and answers each call with "transport failure"; why the brokers hang up,
it tells only to its error callback:

    list_topics ──▶ answered: all is well
                └─▶ failed; the callback heard of TLS or SASL, and still no answer: refused for good
                └─▶ failed; the callback heard of nothing but the network: it may come back
"""

import logging
from collections.abc import Mapping
from typing import Any

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from onceproof.sink.budget import Budget
from onceproof.sink.client.librdkafka import connection_settings
from onceproof.sink.errors import LaneError, RefusedError

CONNECT_S_MAX = 10.0
_FIRST_ATTEMPT_S = 1.0  # each gets twice as much: from afar, of many topics, an answer takes long
# A broker that comes up refuses users it has not read yet: one refusal is not the last word.
REFUSALS_MIN = 2
_REFUSALS = (KafkaError._AUTHENTICATION, KafkaError._SSL)
_log = logging.getLogger("onceproof.sink.librdkafka")


def require_connection(client: Mapping[str, str]) -> None:
    """Return when a broker has let us in.

    RefusedError where it refuses the login or TLS fails; LaneError, to be tried again, where no
    broker answers at all within CONNECT_S_MAX.
    """
    heard: list[KafkaError] = []
    admin = _admin(client, heard)
    budget, attempt_s = Budget(CONNECT_S_MAX), _FIRST_ATTEMPT_S
    while not budget.spent():
        try:
            admin.list_topics(timeout=max(_FIRST_ATTEMPT_S, min(attempt_s, budget.left_s())))
            return
        except KafkaException as error:
            last = error.args[0]
            attempt_s *= 2
        admin.poll(0)
        refusals = [each for each in heard if each.code() in _REFUSALS]
        if len(refusals) >= REFUSALS_MIN:
            raise RefusedError(f"no login at {_servers(client)}: {refusals[-1].str()}")
    said = heard[-1] if heard else last
    raise LaneError(f"no broker answers at {_servers(client)}: {said.str()}")


def _admin(client: Mapping[str, str], heard: list[KafkaError]) -> AdminClient:
    settings: dict[str, Any] = {**connection_settings(client), "error_cb": heard.append}
    try:
        return AdminClient(settings, logger=_log)
    except KafkaException as error:  # a store that cannot be opened, a value out of range
        raise RefusedError(f"client settings: {error.args[0].str()}") from None


def _servers(client: Mapping[str, str]) -> str:
    return client.get("bootstrap.servers", "no address")
