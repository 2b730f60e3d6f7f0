"""The rows of one lane, as Arrow batches; their digest is summed up while they are read."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from onceproof.sink.cut import HASH_COLUMN, LANE_COLUMN
from onceproof.sink.digest import RowsDigest
from onceproof.sink.errors import SinkError

if TYPE_CHECKING:
    import pyarrow


class LaneRows:
    """Read once. `digest` is of the rows read so far."""

    def __init__(self, batches: "Iterable[pyarrow.RecordBatch]", lane: int | None = None) -> None:
        """`lane`: the one that every row must say it belongs to, where rows say so."""
        self._unread = iter(batches)
        self._held: list[pyarrow.RecordBatch] = []  # read and counted, not handed out yet
        self._lane = lane
        self.digest = RowsDigest()
        self.size = 0  # bytes

    def __iter__(self) -> "Iterator[pyarrow.RecordBatch]":
        while self._held:
            yield self._held.pop(0)
        for batch in self._unread:
            yield self._counted(batch)

    def hold_while(self, is_worth_it: Callable[[], bool], bytes_max: int) -> None:
        """Read on, and keep what is read for later."""
        held = 0
        while held < bytes_max and is_worth_it():
            batch = next(self._unread, None)
            if batch is None:
                return
            self._held.append(self._counted(batch))
            held += batch.nbytes

    def wait_for_the_first(self) -> None:
        """Return when some rows are there, or it is known that there are none."""
        self.hold_while(lambda: not self._held, bytes_max=1)

    def all_if_few(self, bytes_max: int) -> "list[pyarrow.RecordBatch] | None":
        """All rows, if they are so few; else None, and they can still be read from the first."""
        size = 0
        for batch in self._unread:
            self._held.append(self._counted(batch))
            size += batch.nbytes
            if size > bytes_max:
                return None
        few, self._held = self._held, []
        return few

    def read_to_the_end(self) -> None:
        for _ in self:
            pass

    def _counted(self, batch: "pyarrow.RecordBatch") -> "pyarrow.RecordBatch":
        self._refuse_strangers(batch)
        self.digest.add(batch.column(HASH_COLUMN).to_numpy(zero_copy_only=False))
        self.size += batch.nbytes
        return batch

    def _refuse_strangers(self, batch: "pyarrow.RecordBatch") -> None:
        if LANE_COLUMN not in batch.schema.names:
            return
        strangers = set(batch.column(LANE_COLUMN).unique().to_pylist()) - {self._lane}
        if strangers:
            raise SinkError(
                f"rows of lanes {sorted(strangers)} came to the task of lane {self._lane}"
            )


def packed(batches: "list[pyarrow.RecordBatch]") -> bytes | None:
    """A few rows, on their way to the driver."""
    import pyarrow

    if not batches:
        return None
    stream = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(stream, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    content: bytes = stream.getvalue().to_pybytes()
    return content


def unpacked(content: bytes | None) -> "list[pyarrow.RecordBatch]":
    import pyarrow

    return [] if content is None else list(pyarrow.ipc.open_stream(content))
