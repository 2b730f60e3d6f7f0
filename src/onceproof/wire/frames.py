"""Kafka's frames: cut out of a stream of bytes, and what stands in their heads. Pure, no sockets.

┌──────────────┬─────────┬─────────┬────────────────┬───────────┬──────
│ length int32 │ api i16 │ version │ correlation id │ client id │ body     a request
└──────────────┴─────────┴─────────┴────────────────┴───────────┴──────
┌──────────────┬────────────────┬──────
│ length int32 │ correlation id │ body                                    a response
└──────────────┴────────────────┴──────
"""

import struct
from dataclasses import dataclass

from onceproof.errors import OnceproofError

LENGTH = struct.Struct(">i")
REQUEST_HEAD = struct.Struct(">ihhih")  # length, api, version, correlation id, client id's length
RESPONSE_HEAD = struct.Struct(">ii")
FRAME_BYTES_MAX = 512 * 1024 * 1024
_TLS_HANDSHAKE = b"\x16\x03"


class FrameError(OnceproofError):
    """What came is not Kafka's protocol."""


@dataclass(frozen=True, slots=True)
class RequestHead:
    api_key: int
    version: int
    correlation_id: int
    client_id: str | None
    end: int  # where in the frame the client id ends


class FrameCutter:
    """Bytes as they come in, whole frames out: each with its length before it, as it came."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []  # put together once, when the frame is whole
        self._size = 0
        self._wanted = LENGTH.size  # no frame can be whole before there are so many bytes

    def feed(self, data: bytes) -> list[bytes]:
        self._pieces.append(data)
        self._size += len(data)
        if self._size < self._wanted:
            return []
        kept = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        frames, start = [], 0
        self._wanted = LENGTH.size
        while len(kept) - start >= LENGTH.size:
            end = start + LENGTH.size + _length_at(kept, start)
            if end > len(kept):
                self._wanted = end - start
                break
            frames.append(kept[start:end])  # all of it is no copy
            start = end
        rest = kept[start:]
        self._pieces, self._size = [rest] if rest else [], len(rest)
        return frames

    def left_over(self) -> int:
        """Bytes of a frame that has not come in whole."""
        return self._size


def _length_at(kept: bytes, start: int) -> int:
    if kept[start : start + 2] == _TLS_HANDSHAKE:
        raise FrameError(
            "a client opened with a TLS handshake; the proxy reads plain text only, so a"
            " cluster with TLS cannot be put behind it"
        )
    (length,) = LENGTH.unpack_from(kept, start)
    if 0 <= length <= FRAME_BYTES_MAX:
        return int(length)
    raise FrameError(f"a frame says it is {length} bytes long; that is not Kafka's protocol")


def read_request_head(frame: bytes) -> RequestHead:
    try:
        _, api_key, version, correlation_id, length = REQUEST_HEAD.unpack_from(frame)
        end = REQUEST_HEAD.size + max(0, length)
        if end > len(frame):
            raise FrameError(f"a request of {len(frame)} bytes has a client id of {length}")
        name = None if length < 0 else frame[REQUEST_HEAD.size : end].decode(errors="replace")
    except struct.error as error:
        raise FrameError(f"a request of {len(frame)} bytes has no head") from error
    return RequestHead(api_key, version, correlation_id, name, end)


def read_correlation_id(frame: bytes) -> int:
    try:
        _, correlation_id = RESPONSE_HEAD.unpack_from(frame)
    except struct.error as error:
        raise FrameError(f"a response of {len(frame)} bytes has no head") from error
    return int(correlation_id)
