"""Runs on executors. A task's rows, which are all only if Spark says that they are.

    JVM ──▶ Arrow's batches ──▶ Arrow's end ──▶ END_OF_STREAM     left for the worker to read
               └▶ the source fails, the task is killed: the socket ends, and nothing else comes

pyarrow takes the end of a socket between two batches for the end of the rows: a lane would commit a
part of them. So what follows them is looked at, and left where it is. Only PySpark's worker holds
that file, as `infile` of its `main`; where it cannot be found there, nothing is written.
"""

import struct
import sys
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING, Protocol

from onceproof.sink.errors import CutOffError, RefusedError

if TYPE_CHECKING:
    import pyarrow

_END_OF_STREAM = struct.pack("!i", -4)  # SpecialLengths of PySpark's serializers
NO_INPUT = (
    "this PySpark does not show where its Python worker reads rows from, so nobody can tell whether"
    " they are all; expected `infile` in `main` of pyspark.worker, as in Spark 3.5, 4.0 and 4.2"
)


class WorkerInput(Protocol):
    def peek(self, size: int, /) -> bytes:
        """What comes next, at least a byte unless the file has ended; it stays unread."""
        ...


class UntilSparkEnds:
    """The batches; CutOffError where they end and Spark has not said so, each time."""

    def __init__(self, batches: "Iterator[pyarrow.RecordBatch]") -> None:
        found = worker_input()
        if found is None:
            raise RefusedError(NO_INPUT)
        self._batches = batches
        self._input = found
        self._rows = 0

    def __iter__(self) -> "Iterator[pyarrow.RecordBatch]":
        return self

    def __next__(self) -> "pyarrow.RecordBatch":
        batch = next(self._batches, None)
        if batch is not None:
            self._rows += batch.num_rows
            return batch
        # Behind Arrow's end nothing else is ever sent: a first byte of Spark's will do.
        following = self._input.peek(len(_END_OF_STREAM))[: len(_END_OF_STREAM)]
        if following and _END_OF_STREAM.startswith(following):
            raise StopIteration
        raise CutOffError(f"Spark broke off the rows of this task after {self._rows}")


def worker_input() -> WorkerInput | None:
    """The file that PySpark's worker, in whose task we are called, reads the rows from."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "main":
            found = frame.f_locals.get("infile")
            if hasattr(found, "peek"):
                return found
        frame = frame.f_back
    return None
