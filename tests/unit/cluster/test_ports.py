import socket

from onceproof.cluster.ports import HOST, HeldPorts


def test_held_ports_are_free_and_given_out_once() -> None:
    first, second = HeldPorts(), HeldPorts()
    try:
        ports = first.take(4) + second.take(4) + first.take(4)
        assert len(set(ports)) == 12
        for port in ports:
            with socket.create_server((HOST, port)):
                pass
    finally:
        first.release()
        second.release()


def test_a_port_that_is_listened_on_is_passed_over() -> None:
    held = HeldPorts()
    (port,) = held.take(1)
    with socket.create_server((HOST, port + 1)):
        (other,) = held.take(1)
    held.release()
    assert other > port + 1


def test_released_ports_are_not_the_next_to_be_taken() -> None:
    held = HeldPorts()
    ports = held.take(3)
    held.release()
    assert set(held.take(3)).isdisjoint(ports)
    held.release()
