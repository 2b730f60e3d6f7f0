"""An address that neither answers nor refuses, and is given back."""

import socket

import pytest

from onceproof.wire.black_hole import BlackHole

HOST = "127.0.0.1"


def test_whoever_connects_waits_and_what_was_connected_before_stays() -> None:
    with socket.create_server((HOST, 0)) as server:
        port = server.getsockname()[1]
        client = socket.create_connection((HOST, port))
        inside, _ = server.accept()
    hole = BlackHole(HOST, port)
    with pytest.raises(TimeoutError):
        socket.create_connection((HOST, port), timeout=0.2)
    with client, inside:
        client.sendall(b"x")
        assert inside.recv(1) == b"x"
    hole.close()
    with socket.create_server((HOST, port)):
        socket.create_connection((HOST, port), timeout=1.0).close()
