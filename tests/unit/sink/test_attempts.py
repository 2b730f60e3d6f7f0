"""How often a batch is tried: a failed lane again, an outlasted one once, a refused one never."""

from typing import Any

import pytest

from onceproof.sink import ExactlyOnceKafka, exactly_once_kafka, expectation, leader
from onceproof.sink.announcing import Lead, TakenUp
from onceproof.sink.cut import Lanes
from onceproof.sink.errors import LaneError, OutlastedError, RefusedError, ReplayError
from onceproof.sink.ledger.entries import Cut, Manifest
from onceproof.sink.reports import LaneReport

TWICE = [OutlastedError("took 8 s"), OutlastedError("took 9 s")]


class Batch:
    sparkSession = None


class Attempts(list[int]):
    """Each fails as it is told to; when nothing is left to fail with, it succeeds."""

    def __init__(self, failures: list[Exception]) -> None:
        super().__init__()
        self._failures = list(failures)

    def __call__(self, _batch: Any, _query: str, batch_id: int) -> None:
        self.append(batch_id)
        if self._failures:
            raise self._failures.pop(0)


class Early:
    """Stands for what Spark has begun of a batch."""

    cancelled = 0

    def __init__(self, _batch: Any) -> None:
        Early.cancelled = 0

    def cancel(self) -> None:
        Early.cancelled += 1


@pytest.fixture
def sink(monkeypatch: pytest.MonkeyPatch) -> ExactlyOnceKafka:
    monkeypatch.setattr(leader, "query_of", lambda _session: "q-1")
    monkeypatch.setattr(leader, "require_clients", lambda _session: None)
    monkeypatch.setattr(leader, "EarlyStages", Early)
    made = exactly_once_kafka(
        sink_id="s", topic="out", options={"kafka.bootstrap.servers": "nowhere:1"}
    )
    monkeypatch.setattr(made._jvm_whole, "can_write", lambda *_: False)
    return made


def attempts_of(
    sink: ExactlyOnceKafka, monkeypatch: pytest.MonkeyPatch, failures: list[Exception]
) -> Attempts:
    attempts = Attempts(failures)
    monkeypatch.setattr(sink, "_attempt", attempts)
    return attempts


@pytest.mark.parametrize(
    "failures",
    [
        [],
        [LaneError("fenced")] * 4,
        [OutlastedError("took 8 s")],
        [OutlastedError("took 8 s"), LaneError("fenced"), OutlastedError("took 8 s")],
    ],
)
def test_what_may_be_tried_again_is(
    failures: list[Exception], sink: ExactlyOnceKafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts = attempts_of(sink, monkeypatch, failures)
    sink(Batch(), 7)  # type: ignore[arg-type]
    assert (attempts, Early.cancelled) == ([7] * (len(failures) + 1), 0)


@pytest.mark.parametrize(
    ("failures", "tried", "ends"),
    [
        (TWICE, 2, RefusedError("took 9 s; tried twice")),
        ([LaneError("fenced")] * 9, 5, LaneError("batch 7 failed 5 times; last: fenced")),
        ([RefusedError("too large")], 1, RefusedError("too large")),
        ([ReplayError("differs")], 1, ReplayError("differs")),
    ],
)
def test_what_may_not_ends_the_query_and_lets_everything_of_it_go(
    failures: list[Exception],
    tried: int,
    ends: Exception,
    sink: ExactlyOnceKafka,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    attempts = attempts_of(sink, monkeypatch, failures)
    let_go: list[bool] = []
    monkeypatch.setattr(sink, "_let_go", lambda: let_go.append(True))
    with pytest.raises(type(ends), match=str(ends)):
        sink(Batch(), 7)  # type: ignore[arg-type]
    assert len(attempts) == tried
    assert (let_go, Early.cancelled) == ([True], 1)


@pytest.mark.parametrize("writer", ["python", "jvm"])
def test_a_whole_batch_that_outlasts_its_timeout_is_tried_in_lanes(
    sink: ExactlyOnceKafka, monkeypatch: pytest.MonkeyPatch, writer: str
) -> None:
    """Whole again, it would outlast it again, in every replay."""
    tried: list[str] = []

    def late(*_: Any) -> None:
        tried.append("whole")
        raise OutlastedError("took 61 s")

    def in_lanes(*_: Any) -> list[LaneReport]:
        tried.append("lanes")
        return []

    lanes = Lanes(cut=Cut.KEYS, count=1)
    manifest = Manifest(query="q-1", batch=7, lanes=1, lanes_ever=1, cut=Cut.KEYS.value)
    settings = sink._announcer.settings
    taken = TakenUp(settings=settings, manifest=manifest, is_replay=False)
    transaction: Any = Transaction()
    lead = Lead(transaction=transaction, last=None, end=0)
    monkeypatch.setattr(expectation, "records_to_read", lambda _batch: 1)
    monkeypatch.setattr(leader, "choose_lanes", lambda *_: lanes)
    monkeypatch.setattr(sink._announcer, "lead", lambda *_: lead)
    monkeypatch.setattr(sink._announcer, "announce", lambda *_: taken)
    monkeypatch.setattr(sink._jvm_whole, "can_write", lambda *_: writer == "jvm")
    monkeypatch.setattr(sink._jvm_whole if writer == "jvm" else sink._whole, "write", late)
    monkeypatch.setattr(sink._laned, "write", in_lanes)
    sink(Batch(), 7)  # type: ignore[arg-type]
    assert tried == ["whole", "lanes"]


class Transaction:
    is_closed = False

    def close(self) -> None:
        self.is_closed = True


def test_a_lead_is_closed_when_the_batch_cannot_be_cut(
    sink: ExactlyOnceKafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    transaction: Any = Transaction()
    lead = Lead(transaction=transaction, last=None, end=0)

    def no_such_column(*_: Any) -> None:
        raise RefusedError("no column value")

    monkeypatch.setattr(sink._expectation, "is_small", lambda _batch: False)
    monkeypatch.setattr(sink._announcer, "lead", lambda _query, _batch_id: lead)
    monkeypatch.setattr(leader, "choose_lanes", no_such_column)
    with pytest.raises(RefusedError, match="no column value"):
        sink(Batch(), 7)  # type: ignore[arg-type]
    assert transaction.is_closed
