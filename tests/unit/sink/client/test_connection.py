"""Where nothing listens, that is said, and it may be tried again."""

import socket

import pytest

from onceproof.sink.client import connection
from onceproof.sink.client.connection import require_connection
from onceproof.sink.errors import LaneError


def test_a_port_where_nobody_listens_is_told_with_its_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection, "CONNECT_S_MAX", 0.5)
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # bound, never listening: every connection is refused
        address = f"127.0.0.1:{held.getsockname()[1]}"
        with pytest.raises(LaneError, match=f"no broker answers at {address}: .*refused"):
            require_connection({"bootstrap.servers": address})
