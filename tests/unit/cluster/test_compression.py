import gzip
import struct

import pyarrow
import pytest
from kafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder

from onceproof.cluster.compression import HEADER_BYTES, plain_batch
from onceproof.errors import ClusterError

VALUE = b"some value " * 50


def compressed(codec: int, payload: bytes) -> bytes:
    """An uncompressed batch whose records are replaced by `payload`."""
    batch = bytearray(uncompressed()[:HEADER_BYTES])
    struct.pack_into(">h", batch, 21, codec)
    return bytes(batch) + payload


def uncompressed() -> bytes:
    builder = DefaultRecordBatchBuilder(
        magic=2,
        compression_type=0,
        is_transactional=False,
        producer_id=-1,
        producer_epoch=-1,
        base_sequence=-1,
        batch_size=1 << 20,
    )
    for offset in range(20):
        builder.append(offset, timestamp=1000, key=b"key", value=VALUE, headers=[])
    return bytes(builder.build())


def stream(codec: str, data: bytes) -> bytes:
    sink = pyarrow.BufferOutputStream()
    with pyarrow.CompressedOutputStream(sink, codec) as out:
        out.write(data)
    return bytes(sink.getvalue())


def xerial(data: bytes) -> bytes:
    """As the Java client frames snappy: a header, then blocks with their lengths."""
    framed = b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1)
    for start in range(0, len(data), 4096):
        block = pyarrow.compress(data[start : start + 4096], codec="snappy", asbytes=True)
        framed += struct.pack(">i", len(block)) + block
    return framed


@pytest.mark.parametrize(
    ("codec", "compress"),
    [
        (1, gzip.compress),
        (2, lambda data: pyarrow.compress(data, codec="snappy", asbytes=True)),
        (2, xerial),
        (3, lambda data: stream("lz4", data)),
        (4, lambda data: stream("zstd", data)),
    ],
    ids=["gzip", "snappy", "snappy-java", "lz4", "zstd"],
)
def test_a_batch_of_any_codec_becomes_plain(codec: int, compress: object) -> None:
    records = uncompressed()[HEADER_BYTES:]
    plain = plain_batch(compressed(codec, compress(records)))  # type: ignore[operator]
    assert [record.value for record in DefaultRecordBatch(plain)] == [VALUE] * 20


def test_a_plain_batch_stays_as_it_is() -> None:
    assert plain_batch(uncompressed()) == uncompressed()


def test_an_unknown_codec_is_refused() -> None:
    with pytest.raises(ClusterError, match=r"unknown codec 7; known: \[1, 2, 3, 4\]"):
        plain_batch(compressed(7, b""))
