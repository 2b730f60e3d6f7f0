"""A task's rows are all there only if Spark says so: an Arrow stream that breaks off just ends."""

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pyarrow
import pytest
from pyspark import TaskContext

from onceproof.sink.errors import CutOffError, RefusedError
from onceproof.sink.settings import Settings
from onceproof.sink.task import Task, task_function
from onceproof.sink.work import Work

END_OF_STREAM = struct.pack("!i", -4)
ARROWS_END = b"\xff\xff\xff\xff\x00\x00\x00\x00"
SETTINGS = Settings(sink_id="s", topic="out", lanes=1, ledger_topic="s.ledger", client=())
MEASURE = Task(work=Work(settings=SETTINGS, query="q", batch=0), lane_of={}, write=False)


@dataclass(frozen=True, kw_only=True)
class Context:
    partition: int

    def partitionId(self) -> int:
        return self.partition


@pytest.fixture(autouse=True)
def context(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TaskContext, "get", classmethod(lambda _: Context(partition=0)))


def sent(batches: int) -> bytes:
    """What Spark sends of so many batches before it asks for the next one."""
    rows = pyarrow.RecordBatch.from_pylist([{"value": b"v", "__hash": 1}] * 10)
    stream = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(stream, rows.schema) as writer:
        for _ in range(batches):
            writer.write_batch(rows)
    whole: bytes = stream.getvalue().to_pybytes()
    assert whole.endswith(ARROWS_END)
    return whole.removesuffix(ARROWS_END)


def main(infile: IO[bytes], outfile: Any) -> list[dict[str, Any]]:
    """As pyspark.worker has it."""
    del outfile
    read: Iterator[pyarrow.RecordBatch] = iter(pyarrow.ipc.open_stream(infile))
    return [row for batch in task_function(MEASURE)(read) for row in batch.to_pylist()]


def told(folder: Path, content: bytes, buffer_bytes: int = 65536) -> tuple[int, bytes]:
    """The rows of the task's report, and what it left unread."""
    (folder / "sent").write_bytes(content)
    with open(folder / "sent", "rb", buffer_bytes) as infile:
        reports = main(infile, None)
        return reports[0]["rows"], infile.read()


def test_rows_that_spark_ends_are_all_and_its_end_is_left_to_the_worker(tmp_path: Path) -> None:
    content = sent(3) + ARROWS_END + END_OF_STREAM
    assert told(tmp_path, content) == (30, END_OF_STREAM)


@pytest.mark.parametrize("split", [1, 2, 3])
def test_an_end_of_which_only_a_part_has_come_yet_is_one(tmp_path: Path, split: int) -> None:
    content = sent(1) + ARROWS_END + END_OF_STREAM
    assert told(tmp_path, content, buffer_bytes=len(content) - split) == (10, END_OF_STREAM)


def test_rows_that_break_off_between_two_batches_are_not_all(tmp_path: Path) -> None:
    with pytest.raises(CutOffError, match="Spark broke off the rows of this task after 20"):
        told(tmp_path, sent(2))


def test_they_are_not_all_however_often_they_are_asked_for(tmp_path: Path) -> None:
    from onceproof.sink.spark_end import UntilSparkEnds

    (tmp_path / "sent").write_bytes(sent(2))

    def main(infile: IO[bytes]) -> None:
        rows = UntilSparkEnds(iter(pyarrow.ipc.open_stream(infile)))
        for _ in range(2):
            with pytest.raises(CutOffError):
                list(rows)

    with (tmp_path / "sent").open("rb") as infile:
        main(infile)


def test_what_follows_must_be_sparks_end(tmp_path: Path) -> None:
    with pytest.raises(CutOffError):
        told(tmp_path, sent(2) + ARROWS_END + struct.pack("!i", -1))


def test_a_pipe_that_its_writer_closes_is_no_end() -> None:
    reader, writer = os.pipe()
    with open(reader, "rb") as infile:
        os.write(writer, sent(1))
        os.close(writer)
        with pytest.raises(CutOffError):
            main(infile, None)


def test_a_worker_that_hides_its_input_is_refused_before_anything_is_read() -> None:
    with pytest.raises(RefusedError, match="this PySpark does not show"):
        next(task_function(MEASURE)(iter([])))
