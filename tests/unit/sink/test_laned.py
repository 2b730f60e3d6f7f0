"""What a pass over the lanes tells: why it failed, and what of a skipped batch is not written."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from onceproof.sink import laned
from onceproof.sink.announcing import TakenUp
from onceproof.sink.errors import LaneError, RefusedError
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

    batches = LanedBatches(announcer)  # type: ignore[arg-type]
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
    batches = LanedBatches(MadeUpAnnouncer(None, is_known=True))  # type: ignore[arg-type]
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


def test_rows_count_where_they_are_committed_whoever_did_it() -> None:
    def lane(state: LaneState) -> LaneReport:
        return LaneReport(partition=0, lane=0, state=state.value, rows=7, digest="00")

    states = [LaneState.COMMITTED, LaneState.ALREADY, LaneState.MEASURED]
    assert rows_written([lane(state) for state in states]) == 14
