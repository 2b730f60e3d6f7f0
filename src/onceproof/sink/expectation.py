"""Runs on the driver. Whether a batch will be small, or brief, told before it is computed.

From Kafka alone, Spark knows how many records it will read: times what a record came to in the
last batch. From other sources a batch is expected to be like the one before it. A wrong guess costs
time and memory, never a record: however many rows come, they are written.
"""

from typing import TYPE_CHECKING

from onceproof.sink.lineage import records_to_read

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FIRST_BYTES_A_RECORD = 1024.0
FIRST_BRIEF_BYTES = 1 << 30  # of the first batch; then times are known
GROWTH = 10  # of one batch over the last, at the most, by all that is expected without asking


class Expectation:
    def __init__(self, bytes_max: int) -> None:
        """`bytes_max`: what counts as small; 0: nothing does."""
        self._bytes_max = bytes_max
        self._records: int | None = None  # that the batch at hand reads
        self._bytes_a_record = FIRST_BYTES_A_RECORD
        self._last_bytes: int | None = None
        self._last_s: float | None = None
        self._seconds_a_record = 0.0
        self._failed = False

    def is_small(self, batch: "DataFrame") -> bool:
        if self._bytes_max == 0 or self._failed:
            return False
        self._records = records_to_read(batch)
        return self.bytes_of(self._records) <= self._bytes_max

    def is_brief(self, batch: "DataFrame", seconds_max: float) -> bool:
        """Whether it will be written in that time. After a batch that was far from it Spark is not
        even asked what it reads.
        """
        if self._bytes_max == 0 or self._failed:
            return False
        self._records = None
        if self._last_s is not None and self._last_s * GROWTH <= seconds_max:
            return True
        self._records = records_to_read(batch)
        if self._last_s is None:
            return self.bytes_of(self._records) <= FIRST_BRIEF_BYTES
        if self._records is None or not self._seconds_a_record:
            return self._last_s <= seconds_max
        return self._records * self._seconds_a_record <= seconds_max

    def bytes_of(self, records: int | None) -> float:
        """Of a batch that reads so many records; None: nobody knows how many."""
        if records is not None:
            return records * self._bytes_a_record
        return float("inf") if self._last_bytes is None else float(self._last_bytes)

    def learn(self, written_bytes: int, seconds: float) -> None:
        """What the batch at hand came to, and how long it took."""
        self._failed = False
        self._last_bytes = written_bytes
        self._last_s = seconds
        if self._records:
            self._bytes_a_record = written_bytes / self._records
            self._seconds_a_record = seconds / self._records

    def was_wrong(self) -> None:
        """The batch could not be written whole: in lanes then, and it is learnt from."""
        self._failed = True
