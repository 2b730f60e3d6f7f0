"""Runs on executors and on the driver. Arrow record batches as arrays of librdkafka messages.

    RecordBatch  key, value: [validity][offsets][bytes]
                     │  addresses and lengths, by numpy, no loop over rows
                     ▼
    array of rd_kafka_message_t ──▶ rd_kafka_produce_batch (copies the bytes before it returns)

The addresses point into Arrow's buffers, so a batch must be kept until the call has returned; the
copy makes that the only moment that matters. Absent is a null pointer, empty is not.
"""

from typing import TYPE_CHECKING, Any

import numpy

from onceproof.sink.producing.librdkafka import PARTITION_ANY, Message

if TYPE_CHECKING:
    import pyarrow

MESSAGE = numpy.dtype(Message)
_SOMEWHERE = numpy.zeros(1, dtype=numpy.uint8)  # what an empty, but present, field points at


def message_array(
    key: "pyarrow.Array | None", value: "pyarrow.Array", partition: "pyarrow.Array | None"
) -> "numpy.ndarray[Any, Any]":
    """One message a row. Valid as long as the arrays are kept."""
    messages = numpy.zeros(len(value), dtype=MESSAGE)
    messages["payload"], messages["length"] = _places(value)
    if key is not None:
        messages["key"], messages["key_length"] = _places(key)
    messages["partition"] = PARTITION_ANY if partition is None else _partitions(partition)
    return messages


def _places(column: "pyarrow.Array") -> tuple[Any, Any]:
    """Address and length of each row's bytes; both zero where the row has none."""
    import pyarrow

    if not len(column):  # it may have no buffers at all
        return 0, 0
    wide = pyarrow.types.is_large_binary(column.type) or pyarrow.types.is_large_string(column.type)
    _, offsets_buffer, data = column.buffers()
    offsets: Any = numpy.frombuffer(offsets_buffer, dtype=numpy.int64 if wide else numpy.int32)
    offsets = offsets[column.offset : column.offset + len(column) + 1].astype(numpy.uint64)
    lengths = offsets[1:] - offsets[:-1]
    if data is None or data.size == 0:
        addresses = numpy.full(len(column), _SOMEWHERE.ctypes.data, dtype=numpy.uint64)
    else:
        addresses = offsets[:-1] + numpy.uint64(data.address)
    if column.null_count:
        absent = column.is_null().to_numpy(zero_copy_only=False)
        addresses[absent] = 0
        lengths[absent] = 0
    return addresses, lengths


def _partitions(column: "pyarrow.Array") -> Any:
    return column.fill_null(PARTITION_ANY).to_numpy(zero_copy_only=False)
