"""Every address a client may be sent to, tried as a client would: a connection, then a question.

bootstrap addresses ─────────────▶ connected?
metadata ─▶ advertised addresses ─▶ connected? ─▶ answers?
"""

import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from kafka.protocol.metadata import ApiVersionsRequest

from onceproof.cluster.client import BrokerClient
from onceproof.errors import ClusterError

CONNECT_S_MAX = 3.0
THREADS_MAX = 16
_US = {"client_software_name": "onceproof", "client_software_version": "0"}


@dataclass(frozen=True, kw_only=True)
class Door:
    """`broker` None: an address that was given. `refusal` None: it is open."""

    broker: int | None
    address: str
    refusal: str | None = None


def try_doors(client: BrokerClient, more: tuple[str, ...] = ()) -> tuple[Door, ...]:
    """Those of the brokers, of our own bootstrap list and `more` (host:port); each once."""
    advertised = {each.node_id: f"{each.host}:{each.port}" for each in client.metadata([]).brokers}
    given = dict.fromkeys((*client.bootstrap_server.split(","), *more))
    others = [each.strip() for each in given if each.strip() not in advertised.values()]
    addresses = [*advertised.values(), *others]
    with ThreadPoolExecutor(THREADS_MAX) as threads:
        refusals = dict(zip(addresses, threads.map(_refusal, addresses), strict=True))
    brokers = [
        Door(broker=number, address=address, refusal=refusals[address] or _silence(client, number))
        for number, address in sorted(advertised.items())
    ]
    return (
        *brokers,
        *(Door(broker=None, address=each, refusal=refusals[each]) for each in others),
    )


def _refusal(address: str) -> str | None:
    host, _, port = address.rpartition(":")
    if not port.isdigit():
        return "no host:port"
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_S_MAX).close()
    except socket.gaierror:
        return "its name cannot be resolved here"
    except TimeoutError:
        return f"no connection within {CONNECT_S_MAX:.0f} s"
    except OSError as error:
        return f"no connection: {error.strerror or error}"
    return None


def _silence(client: BrokerClient, broker: int) -> str | None:
    """One that is paused takes connections, and answers nothing."""
    try:
        client.ask(broker, ApiVersionsRequest(**_US, max_version=3))
    except ClusterError as error:
        return f"it takes connections, but {error}"
    return None
