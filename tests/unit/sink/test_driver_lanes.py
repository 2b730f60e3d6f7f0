"""Which lanes the driver makes ready ahead: those that the next batch will have."""

import pyarrow
import pytest

from onceproof.sink import driver_lanes
from onceproof.sink.driver_lanes import DriverLanes
from onceproof.sink.lane import OpenLane, Work
from onceproof.sink.producing.transaction import Record
from onceproof.sink.reports import LaneReport, LaneState
from onceproof.sink.rows import packed
from onceproof.sink.settings import Settings


class MadeUpTransaction:
    def begin(self) -> None: ...

    def produce_rows(self, rows: pyarrow.RecordBatch, topic: str | None) -> None: ...

    def produce_record(self, record: Record) -> None: ...

    def commit(self) -> None: ...

    def abandon(self) -> None: ...

    def close(self) -> None: ...


def settings(small_batch_bytes: int) -> Settings:
    return Settings(
        sink_id="s",
        topic="out",
        lanes=2,
        ledger_topic="s.ledger",
        client=(),
        small_batch_bytes=small_batch_bytes,
    )


def carried(lane: int) -> LaneReport:
    rows = pyarrow.RecordBatch.from_pylist(
        [{"value": b"v" * 100, "__hash_1": 1, "__hash_2": 2}] * 10
    )
    return LaneReport(
        partition=lane,
        lane=lane,
        state=LaneState.CARRIED.value,
        rows=10,
        digest="",
        carried=packed([rows]),
    )


@pytest.mark.parametrize(("small_batch_bytes", "ahead"), [(0, [0, 1]), (100, [0, 1]), (2**20, [])])
def test_lanes_are_made_ahead_only_where_a_batch_like_this_one_comes_in_lanes_again(
    small_batch_bytes: int, ahead: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(_settings: Settings, lane: int) -> OpenLane:
        transaction = MadeUpTransaction()
        return OpenLane(lane=lane, transaction=transaction, entry=None, fence_ms=0.0, read_ms=0.0)

    monkeypatch.setattr(driver_lanes, "open_lane", opened)
    given = settings(small_batch_bytes)
    lanes = DriverLanes(given)
    work = Work(settings=given, query="q", batch=1)
    done = lanes.complete([carried(0), carried(1)], {0: 0, 1: 1}, work)
    assert [report.state for report in done] == [LaneState.COMMITTED] * 2
    assert sorted(lanes._ahead) == ahead
    lanes.let_go()
