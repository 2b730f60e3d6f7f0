"""What a pass over the lanes tells: why it failed, and what of a skipped batch is not written."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from onceproof.sink import laned
from onceproof.sink.announcing import TakenUp
from onceproof.sink.errors import LaneError, RefusedError, ReplayError
from onceproof.sink.jvm.access import Access
from onceproof.sink.laned import LanedBatches
from onceproof.sink.ledger.entries import Decision, Manifest, Token
from onceproof.sink.reports import LaneReport, LaneState, rows_written
from onceproof.sink.settings import Settings

SETTINGS = Settings(sink_id="s", topic="out", lanes=1, ledger_topic="s.ledger", client=())
TAKEN = TakenUp(
    settings=SETTINGS,
    manifest=Manifest(query="q", batch=0, lanes=1, lanes_ever=1),
    is_replay=False,
)
CANCELLED = RuntimeError("Job 7 cancelled")


class MadeUpAnnouncer:
    settings = SETTINGS

    def __init__(self, refusal: Exception | None, *, is_known: bool) -> None:
        self._refusal = refusal
        self._is_known = is_known
        self.is_confirmed = False

    def is_refused(self) -> bool:
        return self._refusal is not None and self._is_known

    def confirm(self) -> None:
        self.is_confirmed = True
        if self._refusal is not None:
            raise self._refusal


class Batch:
    sparkSession = None


@contextmanager
def never_cancelled(_session: Any, _is_lost: Any) -> Iterator[None]:
    yield


def failed_pass(
    monkeypatch: pytest.MonkeyPatch, announcer: MadeUpAnnouncer, failure: Exception
) -> None:
    def fail(*_: Any) -> None:
        raise failure

    batches = LanedBatches(announcer, Access())  # type: ignore[arg-type]
    monkeypatch.setattr(laned, "cancelled_if", never_cancelled)
    monkeypatch.setattr(laned, "speculates", lambda _session: False)
    monkeypatch.setattr(batches, "_run", fail)
    batches._pass(Batch(), TAKEN, {0: 0})  # type: ignore[arg-type]


@pytest.mark.parametrize("failure", [LaneError("its manifest is not in the ledger"), CANCELLED])
def test_a_refused_manifest_is_told_before_what_came_of_it(
    failure: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    announcer = MadeUpAnnouncer(RefusedError("not authorised"), is_known=True)
    with pytest.raises(RefusedError, match="not authorised"):
        failed_pass(monkeypatch, announcer, failure)


def test_lanes_that_failed_wait_for_what_becomes_of_the_manifest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    announcer = MadeUpAnnouncer(RefusedError("not authorised"), is_known=False)
    with pytest.raises(RefusedError, match="not authorised"):
        failed_pass(monkeypatch, announcer, LaneError("its manifest is not in the ledger"))


def test_a_failure_of_the_query_itself_is_told_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    announcer = MadeUpAnnouncer(None, is_known=True)
    with pytest.raises(RuntimeError, match="Job 7 cancelled"):
        failed_pass(monkeypatch, announcer, CANCELLED)
    assert not announcer.is_confirmed  # an end of the query waits for nobody


def test_a_batch_that_is_skipped_is_warned_of_and_counts_no_rows(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    measured = LaneReport(
        partition=0, lane=None, state=LaneState.MEASURED.value, rows=30, digest="00"
    )
    token = Token(query="q", batch=0, lane=0, rows=10, digest="00")
    batches = LanedBatches(MadeUpAnnouncer(None, is_known=True), Access())  # type: ignore[arg-type]
    monkeypatch.setattr(laned, "ensure_ledger", lambda *_: None)
    monkeypatch.setattr(laned, "require_manifest", lambda _work: None)
    monkeypatch.setattr(batches._lanes, "fence_all", lambda _lanes: {0: token, 1: None})
    monkeypatch.setattr(batches, "_run", lambda *_: [measured])
    skipped = replace(
        TAKEN, is_replay=True, decision=Decision.SKIP, manifest=replace(TAKEN.manifest, lanes=2)
    )
    with caplog.at_level(logging.WARNING, logger="onceproof.sink"):
        reports = batches.replay(Batch(), skipped)  # type: ignore[arg-type]
    assert rows_written(reports) == 0
    assert caplog.messages == [
        "sink s: batch 0 is skipped by a ruling in the ledger: of its 30 rows the 10 of lanes 0"
        " are committed, the others are not written and will not be"
    ]


class Kept:
    """A batch that is evaluated twice."""

    sparkSession = None

    def persist(self) -> "Kept":
        return self

    def unpersist(self) -> None: ...


class Closed(list[str]):
    """Stands for the lanes that the driver has fenced."""

    def fence_all(self, _lanes: int) -> dict[int, Token | None]:
        return {0: TOKEN, 1: self.second}

    second: Token | None = None

    def use(self, _settings: Settings) -> None: ...

    def close_open(self) -> None:
        self.append("closed")

    def complete(self, *_: Any) -> list[LaneReport]:
        self.append("completed")
        return []


TOKEN = Token(query="q", batch=0, lane=0, rows=10, digest="00")


def measured(partition: int, rows: int) -> LaneReport:
    state = LaneState.MEASURED.value
    return LaneReport(partition=partition, lane=None, state=state, rows=rows, digest="00")


@pytest.fixture
def replay(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Closed]:
    """Of a batch in two lanes, of which the first is committed; `rows`: of that one, each time."""

    def replay(*rows: int, second: Token | None = None) -> Closed:
        batches = LanedBatches(MadeUpAnnouncer(None, is_known=True), Access())  # type: ignore[arg-type]
        lanes, passes = Closed(), [[measured(0, count), measured(1, 5)] for count in rows]
        lanes.second = second
        taken = replace(TAKEN, is_replay=True, manifest=replace(TAKEN.manifest, lanes=2))
        monkeypatch.setattr(laned, "ensure_ledger", lambda *_: None)
        monkeypatch.setattr(laned, "require_manifest", lambda _work: None)
        monkeypatch.setattr(laned, "lanes_again", lambda *_: None)
        monkeypatch.setattr(laned, "lanes_by_partition", lambda *_: {0: 0, 1: 1})
        monkeypatch.setattr(laned, "cancelled_if", never_cancelled)
        monkeypatch.setattr(laned, "speculates", lambda _session: False)
        monkeypatch.setattr(batches, "_lanes", lanes)
        monkeypatch.setattr(batches, "_run", lambda *_: passes.pop(0))
        try:
            batches.replay(Kept(), taken)  # type: ignore[arg-type]
        finally:
            assert not passes
        return lanes

    return replay


def test_a_replay_writes_what_is_missing(replay: Callable[..., Closed]) -> None:
    assert replay(10, 10) == ["completed"]


@pytest.mark.parametrize("rows", [(11,), (10, 11)], ids=["compared", "written"])
def test_rows_that_are_other_ones_stop_it_even_if_they_were_the_same_when_they_were_compared(
    replay: Callable[..., Closed], rows: tuple[int, ...]
) -> None:
    """What Spark keeps may be lost with an executor, and is computed anew."""
    with pytest.raises(ReplayError, match="replayed 11 rows with digest 00; committed 10"):
        replay(*rows)


def test_a_replay_that_finds_everything_committed_keeps_no_lane_open(
    replay: Callable[..., Closed],
) -> None:
    assert replay(10, second=replace(TOKEN, lane=1, rows=5)) == ["closed"]


def test_rows_count_where_they_are_committed_whoever_did_it() -> None:
    def lane(state: LaneState) -> LaneReport:
        return LaneReport(partition=0, lane=0, state=state.value, rows=7, digest="00")

    states = [LaneState.COMMITTED, LaneState.ALREADY, LaneState.MEASURED]
    assert rows_written([lane(state) for state in states]) == 14


WHOLE = Manifest(query="q", batch=0, lanes=0, lanes_ever=0, cut="whole", rows=15, digest="0" * 32)


def replayed_whole(monkeypatch: pytest.MonkeyPatch, *rows: int) -> LaneReport:
    batches = LanedBatches(MadeUpAnnouncer(None, is_known=True), Access())  # type: ignore[arg-type]
    found = [replace(measured(place, count), digest="0" * 32) for place, count in enumerate(rows)]
    monkeypatch.setattr(batches, "_run", lambda *_: found)
    return batches.replay_whole(Batch(), replace(TAKEN, manifest=WHOLE))  # type: ignore[arg-type]


def test_a_batch_that_was_written_whole_is_compared_over_all_its_tasks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    report = replayed_whole(monkeypatch, 10, 5)
    assert (report.state, report.rows, report.digest) == (LaneState.ALREADY, 15, "0" * 32)
    with pytest.raises(ReplayError, match=r"replayed 14 rows with digest 0+; committed 15 rows"):
        replayed_whole(monkeypatch, 10, 4)
