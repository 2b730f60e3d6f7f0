"""Asks the kernel for one socket by its two ports (netlink, sock_diag(7)): its inode.

/proc/net/tcp tells the same, but all sockets of the machine with it: tens of milliseconds in which
the proxy forwards nothing.
"""

import socket
import struct

NETLINK_SOCK_DIAG = 4
SOCK_DIAG_BY_FAMILY = 20
NLM_F_REQUEST = 1
ANY_STATE = 0xFFFFFFFF
NO_COOKIE = b"\xff" * 8
ANSWER_S_MAX = 1.0

_HEADER = struct.Struct("=IHHII")  # length, type, flags, sequence, pid
_REQUEST = struct.Struct("=BBBBI")  # family, protocol, extensions, padding, states
_PORTS = struct.Struct("!HH")
# Behind family, state, timer, retransmissions and the socket's identity (48 bytes): expires, the
# two queues, the user.
_INODE_AT = _HEADER.size + 4 + 48 + 4 * 4

# Where clients and proxy are; a JVM has IPv6 sockets for IPv4 connections.
_PLACES = (
    (socket.AF_INET, socket.inet_pton(socket.AF_INET, "127.0.0.1")),
    (socket.AF_INET6, socket.inet_pton(socket.AF_INET6, "::ffff:127.0.0.1")),
    (socket.AF_INET6, socket.inet_pton(socket.AF_INET6, "::1")),
)


def inode_between(port: int, remote: int) -> int | None:
    """Of the socket that leads from the one local port to the other; None: there is none.

    OSError where the kernel does not answer such questions.
    """
    with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, NETLINK_SOCK_DIAG) as kernel:
        kernel.settimeout(ANSWER_S_MAX)
        for family, address in _PLACES:
            kernel.send(_question(family, address, port, remote))
            inode = _inode_in(kernel.recv(8192))
            if inode:
                return inode
    return None


def _question(family: int, address: bytes, port: int, remote: int) -> bytes:
    place = address.ljust(16, b"\0")
    identity = _PORTS.pack(port, remote) + place + place + struct.pack("=I", 0) + NO_COOKIE
    body = _REQUEST.pack(family, socket.IPPROTO_TCP, 0, 0, ANY_STATE) + identity
    length = _HEADER.size + len(body)
    return _HEADER.pack(length, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, 1, 0) + body


def _inode_in(answer: bytes) -> int | None:
    """None: no such socket, which the kernel tells as an error. Pure."""
    _, kind, _, _, _ = _HEADER.unpack_from(answer)
    if kind != SOCK_DIAG_BY_FAMILY or len(answer) < _INODE_AT + 4:
        return None
    (inode,) = struct.unpack_from("=I", answer, _INODE_AT)
    return int(inode) or None
