"""The records of a compressed batch, by the codecs that pyarrow brings. Pure.

kafka-python wants a library of its own for each codec; here a batch is handed to it already plain.
"""

import gzip
import struct
from collections.abc import Callable

from onceproof.errors import ClusterError

HEADER_BYTES = 61  # a batch's header, format 2; what follows it is compressed as a whole
_ATTRIBUTES_AT = 21
_CODEC_BITS = 0x07
# The framing of the Java library: magic, two version numbers, then blocks with their lengths.
_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER_BYTES = 16


def plain_batch(batch: bytes) -> bytes:
    """The same batch without compression. Its checksum is then wrong: check it before."""
    (attributes,) = struct.unpack_from(">h", batch, _ATTRIBUTES_AT)
    codec = attributes & _CODEC_BITS
    if codec == 0:
        return batch
    if codec not in _DECODERS:
        raise ClusterError(f"record batch with unknown codec {codec}; known: {sorted(_DECODERS)}")
    header = bytearray(batch[:HEADER_BYTES])
    struct.pack_into(">h", header, _ATTRIBUTES_AT, attributes & ~_CODEC_BITS)
    return bytes(header) + _DECODERS[codec](batch[HEADER_BYTES:])


def _lz4(data: bytes) -> bytes:
    return _stream(data, "lz4")


def _zstd(data: bytes) -> bytes:
    return _stream(data, "zstd")


def _stream(data: bytes, codec: str) -> bytes:
    import pyarrow  # a third of a second, and needed for compressed witnesses only

    with pyarrow.CompressedInputStream(pyarrow.BufferReader(data), codec) as stream:
        return bytes(stream.read())


def _snappy(data: bytes) -> bytes:
    if not data.startswith(_XERIAL_MAGIC):
        return _snappy_block(data)
    plain = []
    position = _XERIAL_HEADER_BYTES
    while position < len(data):
        (size,) = struct.unpack_from(">i", data, position)
        position += 4
        plain.append(_snappy_block(data[position : position + size]))
        position += size
    return b"".join(plain)


def _snappy_block(block: bytes) -> bytes:
    import pyarrow

    size = shift = 0
    for byte in block:  # the block begins with its plain size, seven bits a byte
        size |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    plain = pyarrow.Codec("snappy").decompress(block, decompressed_size=size)
    return bytes(plain)


_DECODERS: dict[int, Callable[[bytes], bytes]] = {1: gzip.decompress, 2: _snappy, 3: _lz4, 4: _zstd}
