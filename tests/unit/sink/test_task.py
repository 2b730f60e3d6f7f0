"""A task that is fenced looks whether its twin has written the lane; what it opened, it closes."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyarrow
import pytest

from onceproof.sink import lane, writing
from onceproof.sink.digest import RowsDigest
from onceproof.sink.errors import CutOffError, FencedError, LaneError
from onceproof.sink.lane import OpenLane, open_lane
from onceproof.sink.ledger.entries import MANIFEST_PARTITION, Entry, Manifest, Token
from onceproof.sink.ledger.reader import LastWord
from onceproof.sink.reports import LaneState
from onceproof.sink.rows import LaneRows
from onceproof.sink.settings import Settings
from onceproof.sink.task import Task, perform
from onceproof.sink.work import Work

SETTINGS = Settings(
    sink_id="s",
    topic="out",
    lanes=1,
    ledger_topic="s.ledger",
    client=(),
    small_lane_bytes=0,
    transaction_timeout_ms=2_000,
)
WORK = Work(settings=SETTINGS, query="q", batch=7, announcement="mine")
TASK = Task(work=WORK, lane_of={0: 0}, write=True)
OURS = Manifest(query="q", batch=7, lanes=1, lanes_ever=1, announcement="mine")
ROWS = pyarrow.RecordBatch.from_pylist([{"value": b"v", "__hash": 1}] * 10)


def batches() -> Iterator[pyarrow.RecordBatch]:
    yield from [ROWS, ROWS, ROWS]


def digest() -> RowsDigest:
    rows = LaneRows(batches())
    rows.read_to_the_end()
    return rows.digest


TOKEN = Token(query="q", batch=7, lane=0, rows=30, digest=digest().hex())


class MadeUpTransaction:
    """Of which somebody else fences the last step."""

    made: list["MadeUpTransaction"]

    def __init__(self, *_: Any, **__: Any) -> None:
        self.is_closed = False
        MadeUpTransaction.made.append(self)

    def begin(self) -> None: ...

    def produce_rows(self, rows: pyarrow.RecordBatch, topic: str | None) -> None: ...

    def produce_record(self, record: Any) -> None: ...

    def flush(self) -> None:
        raise FencedError("fenced")

    def abandon(self) -> None: ...

    def close(self) -> None:
        self.is_closed = True


class Ledger:
    def __init__(self) -> None:
        self.manifest: Entry | None = OURS
        self.tokens: list[Entry | BaseException | None] = [None]  # each time the lane is looked at
        self.manifest_asked = 0
        self.asked_anew = 0
        self.then: Entry | None = OURS  # the manifest, from the second time on

    def last_word(self, _settings: Settings, partition: int, *, new: bool = False) -> LastWord:
        if partition == MANIFEST_PARTITION:
            self.manifest_asked += 1
            self.asked_anew += new
            found = self.manifest if self.manifest_asked == 1 else self.then
            return LastWord(entry=found, end=0)
        said = self.tokens.pop(0) if len(self.tokens) > 1 else self.tokens[0]
        if isinstance(said, BaseException):
            raise said
        return LastWord(entry=said, end=0)


@pytest.fixture
def ledger(monkeypatch: pytest.MonkeyPatch) -> Ledger:
    found = Ledger()
    MadeUpTransaction.made = []
    monkeypatch.setattr(lane, "open_transaction", MadeUpTransaction)
    monkeypatch.setattr(lane, "last_word", found.last_word)
    monkeypatch.setattr(lane, "TWIN_PAUSE_S", 0.01)
    monkeypatch.setattr(writing, "require_end", lambda *_: None)
    return found


def all_closed() -> bool:
    return all(each.is_closed for each in MadeUpTransaction.made)


def test_a_fenced_task_that_finds_its_twins_token_returns_success(ledger: Ledger) -> None:
    ledger.tokens = [None, TOKEN]
    report = perform(TASK, 0, batches())
    assert (report.state, report.lane, report.rows) == (LaneState.ALREADY, 0, 30)
    assert all_closed()


@pytest.mark.parametrize(
    "found",
    [
        None,
        replace(TOKEN, batch=6),
        replace(TOKEN, rows=29),
        replace(TOKEN, digest="00"),
        replace(TOKEN, query="another"),
    ],
)
def test_a_fenced_task_that_finds_no_such_token_fails(ledger: Ledger, found: Token | None) -> None:
    ledger.tokens = [None, found]
    with pytest.raises(FencedError, match="fenced"):
        perform(TASK, 0, batches())
    assert all_closed()


def test_nor_does_it_trust_a_token_that_another_driver_may_have_ordered(ledger: Ledger) -> None:
    ledger.tokens = [None, TOKEN]
    ledger.then = replace(OURS, announcement="of a successor")
    with pytest.raises(LaneError, match="another driver leads this sink now"):
        perform(TASK, 0, batches())


def test_where_twins_are_to_be_expected_it_waits_for_what_becomes_of_them(ledger: Ledger) -> None:
    """Failing at once it would be started again, and fence its twin in turn."""
    ledger.tokens = [None, None, None, TOKEN]
    report = perform(replace(TASK, has_twins=True), 0, batches())
    assert report.state == LaneState.ALREADY


def test_but_no_longer_than_the_twins_transaction_can_last(ledger: Ledger) -> None:
    work = replace(WORK, settings=replace(SETTINGS, transaction_timeout_ms=200))
    ledger.tokens = [None]
    # Late by then, but fenced in the first place.
    with pytest.raises(FencedError):
        perform(replace(TASK, work=work, has_twins=True), 0, batches())


@pytest.mark.usefixtures("ledger")
def test_rows_that_break_off_are_nobodys_lane() -> None:
    def broken() -> Iterator[pyarrow.RecordBatch]:
        yield ROWS
        raise CutOffError("Spark broke off the rows of this task after 10")

    with pytest.raises(CutOffError):
        perform(TASK, 0, broken())
    assert MadeUpTransaction.made
    assert all_closed()


def test_a_manifest_that_does_not_come_is_looked_for_by_a_new_reader_once(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one at hand may ask a broker that was cut off, and answers."""
    monkeypatch.setattr(lane, "SILENCE_S_MAX", 0.05)
    monkeypatch.setattr(lane, "MANIFEST_S_MAX", 0.2)
    ledger.manifest = ledger.then = replace(OURS, batch=OURS.batch - 1)
    with pytest.raises(LaneError, match="its manifest is not in the ledger"):
        perform(TASK, 0, batches())
    assert ledger.asked_anew == 1 < ledger.manifest_asked


def test_a_lane_is_closed_when_its_manifest_does_not_come(ledger: Ledger) -> None:
    ledger.manifest = ledger.then = replace(OURS, announcement="of a successor")
    with pytest.raises(LaneError, match="another driver leads"):
        perform(TASK, 0, batches())
    assert all_closed()


@pytest.mark.parametrize("raised", [LaneError("no answer"), KeyboardInterrupt()])
def test_a_lane_is_closed_when_the_ledger_does_not_answer(
    ledger: Ledger, raised: BaseException
) -> None:
    ledger.tokens = [raised]
    with pytest.raises(type(raised)):
        open_lane(SETTINGS, 0)
    assert len(MadeUpTransaction.made) == 1
    assert all_closed()


def test_a_lane_is_closed_when_its_rows_fail_after_it_is_refused(ledger: Ledger) -> None:
    ledger.tokens = [replace(TOKEN, query="another")]

    def failing() -> Iterator[pyarrow.RecordBatch]:
        yield ROWS
        raise CutOffError("broken off")

    opened: OpenLane = open_lane(SETTINGS, 0)
    with pytest.raises(CutOffError):
        lane.carry_out(opened, WORK, LaneRows(failing()), 0)
    assert all_closed()
