"""Questions to brokers on the judge's listener: one request, one answer, bounded in time.

Built on kafka-python's network layer, a code base no suspect and no Spark job uses. Every failure
comes out as a ClusterError that names the broker and the question.
"""

import contextlib
import logging
import socket
from collections.abc import Mapping
from typing import Any, TypeVar

import kafka.errors
from kafka.net.inet import KafkaNetSocket
from kafka.net.manager import KafkaConnectionManager
from kafka.net.selector import NetworkSelector
from kafka.protocol.metadata import ApiVersionsRequest, MetadataRequest

from onceproof.deadline import Deadline
from onceproof.errors import ClusterError

logging.getLogger("kafka").setLevel(
    logging.CRITICAL
)  # it reports each refused connection as an error

# kafka-python calls a broker "bootstrap-0" until the metadata tells its number.
BrokerId = TypeVar("BrokerId", int, str, int | str)

ASK_S_MAX = 2.0
OLDEST_KAFKA = "3.3"  # that all our questions are tried on
CONNECT_S_MAX = 10.0
WHY_MS_MAX = 2_000
FETCH_BYTES_MAX = 64 * 1024 * 1024
_AUTHORIZATION = "AuthorizationFailedError"
FORBIDDEN = "this user may not ask that; give the settings of one who may"
_US = {"client_software_name": "onceproof", "client_software_version": "0"}
_CLOSING_SCHEME = "closing"
_QUICK_RECONNECTS = {
    "client_id": "onceproof-judge",
    "reconnect_backoff_ms": 20,
    "reconnect_backoff_max_ms": 200,
    "socket_connection_setup_timeout_ms": 1000,
    "socket_connection_setup_timeout_max_ms": 2000,
    "request_timeout_ms": 30000,
    "proxy_url": f"{_CLOSING_SCHEME}://",
    "receive_message_max_bytes": 2 * FETCH_BYTES_MAX,
}


class ClosingSocket(KafkaNetSocket):  # type: ignore[misc]
    """kafka-python leaves the socket of a refused connection open until it is collected."""

    SCHEMES = (_CLOSING_SCHEME,)

    async def sock_connect(
        self, net: Any, sock: socket.socket, sockaddr: Any, timeout_at: float | None = None
    ) -> Any:
        try:
            return await super().sock_connect(net, sock, sockaddr, timeout_at=timeout_at)
        except kafka.errors.KafkaError:
            sock.close()
            raise


class BrokerClient:
    """A connection to every broker of a cluster. Any thread may ask."""

    def __init__(
        self,
        bootstrap_server: str,
        *,
        deadline: Deadline | None = None,
        security: Mapping[str, Any] | None = None,
        explains: bool = True,
    ) -> None:
        """`explains`: a failure is looked into once more; not by one that tries again anyway."""
        self.bootstrap_server = bootstrap_server
        self._deadline_s = CONNECT_S_MAX if deadline is None else deadline.remaining_s()
        self._net = NetworkSelector()
        settings = {**_QUICK_RECONNECTS, **(security or {})}
        self._manager = KafkaConnectionManager(
            self._net, bootstrap_servers=bootstrap_server.split(","), **settings
        )
        self._net.start()
        try:
            self._manager.run(self._bootstrap)
        except kafka.errors.KafkaError as error:
            why_not = self._manager.run(self._why_not) if explains else ""
            self.close()
            raise ClusterError(
                f"no broker answers at {bootstrap_server}: {why_not or _said(error)}; check the"
                " address, and whether it wants a login or TLS"
            ) from error

    def __enter__(self) -> "BrokerClient":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._manager.close()
        self._net.stop()
        self._net.close()

    async def _bootstrap(self) -> None:
        """Bounded by us, too: kafka-python waits for a TLS handshake as long as it takes."""
        timeout_ms = int(self._deadline_s * 1000)
        await self._manager.wait_for(self._manager.bootstrap_async(timeout_ms), timeout_ms + 100)

    async def _why_not(self) -> str:
        """What a first connection fails with: kafka-python tells only that it took too long."""
        for broker in self._manager.cluster.bootstrap_brokers():
            self._manager.reset_backoff(broker.node_id)
            try:
                connection = self._manager.get_connection(broker.node_id)
                await self._manager.wait_for(connection.init_future, WHY_MS_MAX)
            except kafka.errors.KafkaError as error:
                return _said(error)
        return ""

    def ask(self, broker_id: int | str, request: Any, timeout_s: float = ASK_S_MAX) -> Any:
        """Send one request to one broker and wait for its answer."""
        return self.ask_many({broker_id: request}, timeout_s)[broker_id]

    def ask_many(
        self, requests: Mapping[BrokerId, Any], timeout_s: float = ASK_S_MAX
    ) -> dict[BrokerId, Any]:
        """Ask several brokers at once; fails if one of them does."""
        return self._manager.run(self._ask_many, requests, timeout_s)  # type: ignore[no-any-return]

    async def _ask_many(
        self, requests: Mapping[BrokerId, Any], timeout_s: float
    ) -> dict[BrokerId, Any]:
        timeout_ms = int(timeout_s * 1000)
        sent = {
            broker_id: self._send(broker_id, request, timeout_ms)
            for broker_id, request in requests.items()
        }
        answers = {}
        for broker_id, future in sent.items():
            try:
                answers[broker_id] = await self._manager.wait_for(future, timeout_ms)
            except kafka.errors.KafkaError as error:
                question = type(requests[broker_id]).__name__.removesuffix("Request")
                raise _unanswered(broker_id, question, error) from error
        return answers

    def _send(self, broker_id: int | str, request: Any, timeout_ms: int) -> Any:
        try:
            return self._manager.send(request, node_id=broker_id, request_timeout_ms=timeout_ms)
        except kafka.errors.KafkaError as error:
            raise ClusterError(f"broker {broker_id} is not known: {_said(error)}") from error

    def ask_any(self, request: Any, timeout_s: float = ASK_S_MAX) -> Any:
        """The first answer of any broker: one that is down or paused costs its own timeout only."""
        failures = []
        for broker_id in self._known_brokers():
            try:
                return self.ask(broker_id, request, timeout_s)
            except ClusterError as error:
                failures.append(str(error))
        raise ClusterError(f"no broker answered at {self.bootstrap_server}: {'; '.join(failures)}")

    def _known_brokers(self) -> list[int | str]:
        """Those with a live connection first."""
        cluster = self._manager.cluster
        known = [broker.node_id for broker in (*cluster.brokers(), *cluster.bootstrap_brokers())]
        connections = self._manager._conns
        return sorted(known, key=lambda id: not (id in connections and connections[id].connected))

    def metadata(self, topics: list[str] | None = None, timeout_s: float = ASK_S_MAX) -> Any:
        """The cluster as a broker sees it: live brokers, and leaders of `topics` (None: of all)."""
        answer = self.ask_any(_metadata_request(topics), timeout_s)
        self._manager.cluster.update_metadata(answer)
        return answer

    def live_brokers(self) -> set[int]:
        """Ids of the brokers that are registered and not fenced."""
        return {broker.node_id for broker in self.metadata([]).brokers}

    def views_of_live_brokers(self) -> dict[int, set[int]]:
        """The same, as each broker that answers sees it: views differ while one comes or goes."""
        views = {}
        for broker_id in self.live_brokers():
            with contextlib.suppress(ClusterError):  # it went meanwhile: it has no view
                answer = self.ask(broker_id, _metadata_request([]))
                views[broker_id] = {broker.node_id for broker in answer.brokers}
        return views

    def feature_levels(self) -> dict[str, int]:
        """What the controllers have finalized: transaction.version, group.version, …"""
        features = self.ask_any(ApiVersionsRequest(**_US, max_version=4)).finalized_features
        return {feature.name: feature.max_version_level for feature in features or []}


def _metadata_request(topics: list[str] | None) -> MetadataRequest:
    named = None
    if topics is not None:
        named = [MetadataRequest.MetadataRequestTopic(name=topic) for topic in topics]
    return MetadataRequest(topics=named, allow_auto_topic_creation=False, max_version=9)


def check(error_code: int, what: str) -> None:
    """Turn an error code in an answer into a ClusterError."""
    if error_code != 0:
        error = kafka.errors.for_code(error_code).__name__
        forbidden = f"; {FORBIDDEN}" if error.endswith(_AUTHORIZATION) else ""
        raise ClusterError(f"{what}: {error}{forbidden}")


def _unanswered(broker_id: int | str, question: str, error: Exception) -> ClusterError:
    if isinstance(error, kafka.errors.IncompatibleBrokerVersion):
        return ClusterError(
            f"broker {broker_id} is too old for {question} as it is asked here; Kafka"
            f" {OLDEST_KAFKA} and later know it"
        )
    return ClusterError(f"broker {broker_id} did not answer {question}: {_said(error)}")


def _said(error: BaseException) -> str:
    """Some of kafka-python's errors begin with their own name, and some have nothing but that."""
    name, said = type(error).__name__, str(error)
    return said if said.startswith(name) else f"{name} {said}".strip()
