"""A cluster that runs already: the same questions, no power over its processes."""

from collections.abc import Mapping
from typing import Any, NoReturn

from onceproof.cluster.client import CONNECT_S_MAX, BrokerClient
from onceproof.deadline import Deadline
from onceproof.errors import UsageError


class ExternalCluster:
    """Somebody else's brokers. `security` are kafka-python's own settings for SASL and TLS."""

    version = "external"

    def __init__(self, bootstrap_server: str, security: Mapping[str, Any] | None = None) -> None:
        self.bootstrap_server = bootstrap_server
        self._security = dict(security or {})
        self._client: BrokerClient | None = None

    def __enter__(self) -> "ExternalCluster":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def bootstrap(self, listener: str = "judge") -> str:
        """The one address we were given: a cluster of others has no listener for us alone."""
        del listener
        return self.bootstrap_server

    def client(self) -> BrokerClient:
        if self._client is None:
            self._client = BrokerClient(
                self.bootstrap_server, deadline=Deadline(CONNECT_S_MAX), security=self._security
            )
        return self._client

    @property
    def brokers(self) -> Mapping[int, NoReturn]:
        """None that we may touch."""
        return {}

    def broker(self, broker_id: int) -> NoReturn:
        raise UsageError(
            f"broker {broker_id} of {self.bootstrap_server} cannot be killed, stopped or paused: "
            "the cluster was not started by onceproof; leave out --bootstrap-server for such faults"
        )

    def stop(self) -> None:
        """Let go of it; its brokers run on."""
        if self._client is not None:
            self._client.close()
            self._client = None
