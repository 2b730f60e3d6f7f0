"""Runs on the driver. Whether a batch will be small, told before it is computed.

From Kafka alone, Spark knows how many records it will read: times what a record came to in the
last batch. From other sources a batch is expected to be like the one before it. A wrong guess costs
time and memory, never a record: however many rows come, they are written.
"""

from typing import TYPE_CHECKING

from onceproof.sink.lineage import records_to_read

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FIRST_BYTES_A_RECORD = 1024.0


class Expectation:
    def __init__(self, bytes_max: int) -> None:
        """`bytes_max`: what counts as small; 0: nothing does."""
        self._bytes_max = bytes_max
        self._records: int | None = None  # that the batch at hand reads
        self._bytes_a_record = FIRST_BYTES_A_RECORD
        self._last_bytes: int | None = None
        self._failed = False

    def is_small(self, batch: "DataFrame") -> bool:
        if self._bytes_max == 0 or self._failed:
            return False
        self._records = records_to_read(batch)
        return self.bytes_of(self._records) <= self._bytes_max

    def bytes_of(self, records: int | None) -> float:
        """Of a batch that reads so many records; None: nobody knows how many."""
        if records is not None:
            return records * self._bytes_a_record
        return float("inf") if self._last_bytes is None else float(self._last_bytes)

    def learn(self, written_bytes: int) -> None:
        """What the batch at hand came to."""
        self._failed = False
        self._last_bytes = written_bytes
        if self._records:
            self._bytes_a_record = written_bytes / self._records

    def was_wrong(self) -> None:
        """The batch could not be written whole: in lanes then, and it is learnt from."""
        self._failed = True
