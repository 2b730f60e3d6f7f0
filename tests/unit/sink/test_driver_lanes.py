"""Which lanes the driver makes ready ahead: those that the next batch will have."""

import pyarrow
import pytest

from onceproof.sink import driver_lanes, writing
from onceproof.sink.driver_lanes import DriverLanes
from onceproof.sink.errors import LaneError
from onceproof.sink.lane import OpenLane
from onceproof.sink.producing.transaction import Record
from onceproof.sink.reports import LaneReport, LaneState
from onceproof.sink.rows import packed
from onceproof.sink.settings import Settings
from onceproof.sink.work import Work


class MadeUpTransaction:
    def begin(self) -> None: ...

    def produce_rows(self, rows: pyarrow.RecordBatch, topic: str | None) -> None: ...

    def produce_record(self, record: Record) -> None: ...

    def flush(self) -> None: ...

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
    rows = pyarrow.RecordBatch.from_pylist([{"value": b"v" * 100, "__hash": 1}] * 10)
    return LaneReport(
        partition=lane,
        lane=lane,
        state=LaneState.CARRIED.value,
        rows=10,
        digest="",
        carried=packed([rows]),
    )


class Opened(list[int]):
    """The lanes that were opened, in their order."""

    def __call__(self, _settings: Settings, lane: int) -> OpenLane:
        self.append(lane)
        transaction = MadeUpTransaction()
        return OpenLane(
            lane=lane, transaction=transaction, entry=None, end=0, fence_ms=0.0, read_ms=0.0
        )


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Opened:
    opened = Opened()
    monkeypatch.setattr(driver_lanes, "open_lane", opened)
    monkeypatch.setattr(driver_lanes, "require_manifest", lambda _work: None)
    monkeypatch.setattr(writing, "require_end", lambda _settings, _partition, _end: None)
    return opened


def complete(lanes: DriverLanes, given: Settings) -> list[LaneReport]:
    work = Work(settings=given, query="q", batch=1)
    return lanes.complete([carried(0), carried(1)], {0: 0, 1: 1}, work)


@pytest.mark.usefixtures("opened")
@pytest.mark.parametrize(("small_batch_bytes", "ahead"), [(0, [0, 1]), (100, [0, 1]), (2**20, [])])
def test_lanes_are_made_ahead_only_where_a_batch_like_this_one_comes_in_lanes_again(
    small_batch_bytes: int, ahead: list[int]
) -> None:
    given = settings(small_batch_bytes)
    lanes = DriverLanes(given)
    done = complete(lanes, given)
    assert [report.state for report in done] == [LaneState.COMMITTED] * 2
    assert sorted(lanes._ahead) == ahead
    lanes.let_go()


def test_whoever_takes_a_batch_up_again_fences_its_lanes_now_and_not_by_what_was_made_ahead(
    opened: Opened,
) -> None:
    given = settings(0)
    lanes = DriverLanes(given)
    complete(lanes, given)
    for ahead in lanes._ahead.values():
        ahead._made.result()
    opened.clear()
    lanes.fence_all(2)
    assert sorted(opened) == [0, 1]
    assert not lanes._ahead
    lanes.let_go()


def test_lanes_that_were_fenced_are_closed_if_one_of_them_cannot_be(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    def all_but_the_second(given: Settings, lane: int) -> OpenLane:
        if lane == 1:
            raise LaneError("no coordinator")
        return opened(given, lane)

    closed: list[object] = []

    def close(transaction: MadeUpTransaction) -> None:
        closed.append(transaction)

    monkeypatch.setattr(MadeUpTransaction, "close", close)
    monkeypatch.setattr(driver_lanes, "open_lane", all_but_the_second)
    with pytest.raises(LaneError, match="no coordinator"):
        DriverLanes(settings(0)).fence_all(3)
    assert len(closed) == len(opened) > 0


def test_nothing_is_written_if_another_driver_leads_once_the_lanes_are_ours(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    def overtaken(_work: Work) -> None:
        assert sorted(opened) == [0, 1]  # asked after all lanes are fenced
        raise LaneError("another driver leads this sink now")

    monkeypatch.setattr(driver_lanes, "require_manifest", overtaken)
    monkeypatch.setattr(driver_lanes, "carry_out", pytest.fail)
    given = settings(0)
    with pytest.raises(LaneError, match="another driver"):
        complete(DriverLanes(given), given)
