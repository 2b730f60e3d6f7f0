"""Frames are cut out of any stream of bytes, wherever it is torn, and come out as they came in."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onceproof.wire.frames import FrameCutter, FrameError, read_correlation_id, read_request_head


def framed(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


@given(st.lists(st.binary(max_size=40), max_size=8), st.lists(st.integers(1, 30), min_size=1))
def test_however_the_stream_is_torn_the_frames_are_the_same(
    bodies: list[bytes], sizes: list[int]
) -> None:
    frames = [framed(body) for body in bodies]
    stream = b"".join(frames)
    cutter, found, place = FrameCutter(), [], 0
    while place < len(stream):
        size = sizes[place % len(sizes)]
        found += cutter.feed(stream[place : place + size])
        place += size
    assert found == frames
    assert cutter.left_over() == 0


def test_a_frame_that_has_not_come_in_whole_is_kept() -> None:
    cutter = FrameCutter()
    assert cutter.feed(framed(b"abc")[:5]) == []
    assert cutter.left_over() == 5
    assert cutter.feed(b"bc") == [framed(b"abc")]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01", "opened with a TLS handshake"),
        (b"\xff\xff\xff\xfe", "says it is -2 bytes long"),
        (b"GET / HTTP/1.1\r\n", "that is not Kafka's protocol"),
    ],
)
def test_what_is_not_kafkas_protocol_is_told(data: bytes, message: str) -> None:
    with pytest.raises(FrameError, match=message):
        FrameCutter().feed(data)


def test_a_requests_head_is_read_with_and_without_a_client_id() -> None:
    named = framed(struct.pack(">hhih", 26, 4, 77, 3) + b"abc" + b"\x00")
    head = read_request_head(named)
    assert (head.api_key, head.version, head.correlation_id, head.client_id) == (26, 4, 77, "abc")
    nameless = framed(struct.pack(">hhih", 18, 0, 1, -1))
    assert read_request_head(nameless).client_id is None


@pytest.mark.parametrize("body", [b"", b"\x00\x1a", struct.pack(">hhih", 26, 4, 77, 30) + b"abc"])
def test_a_request_that_ends_too_early_is_told(body: bytes) -> None:
    with pytest.raises(FrameError, match=r"has no head|has a client id of"):
        read_request_head(framed(body))


def test_a_responses_correlation_id() -> None:
    assert read_correlation_id(framed(struct.pack(">i", 77) + b"body")) == 77
    with pytest.raises(FrameError, match="a response of 6 bytes has no head"):
        read_correlation_id(framed(b"\x00\x00"))
