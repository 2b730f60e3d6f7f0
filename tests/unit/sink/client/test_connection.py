"""Where nothing listens may be tried again; settings that do not fit may not."""

import socket

import pytest

from onceproof.sink.client import connection
from onceproof.sink.client.connection import require_connection
from onceproof.sink.errors import LaneError, RefusedError


def test_a_port_where_nobody_listens_is_told_with_its_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection, "CONNECT_S_MAX", 0.5)
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # bound, never listening: every connection is refused
        address = f"127.0.0.1:{held.getsockname()[1]}"
        with pytest.raises(LaneError, match=f"no broker answers at {address}: .*refused"):
            require_connection({"bootstrap.servers": address})


def test_settings_that_librdkafka_does_not_take_are_told_at_once() -> None:
    with pytest.raises(RefusedError, match=r"client settings: .*ssl.ca.location failed"):
        require_connection({"security.protocol": "ssl", "ssl.ca.location": "nowhere.pem"})
