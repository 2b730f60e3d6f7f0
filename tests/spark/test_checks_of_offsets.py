"""What OffsetFetch told against what the log of the groups' offsets says."""

from typing import Any

from frames import BEGAN_AT_S, Wire
from histories import asked, came, case_of, sentences
from pyspark.sql import SparkSession

from onceproof.checks.judge import judge

COMMITTED, ABORTED, OPEN, PLAIN = "COMMITTED", "ABORTED", "UNKNOWN", "NONE"
UNSTABLE = 88


def commit(
    position: int | None, outcome: str, *, at: int, ended: float | None = None, group: str = "g"
) -> tuple[Any, ...]:
    """`at`: its offset in the log; `ended`: when its transaction ended, in seconds of the run."""
    marker_ms = None if ended is None else round((BEGAN_AT_S + ended) * 1000)
    marker = None if ended is None else at + 1
    return (1, at, group, "in", 0, position, 1, 3, outcome, marker, marker_ms)


def fetched(at: float, position: int, **more: Any) -> Wire:
    wire = Wire()
    wire.ask(
        at,
        "OffsetFetch",
        group="g",
        places=[("in", 0, None)],
        answer={"places": [("in", 0, position)]},
        **more,
    )
    return wire


def told(spark: SparkSession, wire: Wire, commits: list[tuple[Any, ...]], **more: Any) -> list[str]:
    facts: dict[str, Any] = {"transactional": True, "offsets_in_group": True, **more}
    case = case_of(
        spark, [asked("a-0", 0)], [came("a-0", 1)], frames=wire.rows, commits=commits, **facts
    )
    return sentences(case, "premature-offset", "stale-offset")


def test_a_position_of_an_aborted_transaction_is_premature(spark: SparkSession) -> None:
    commits = [commit(60, COMMITTED, at=5, ended=1), commit(80, ABORTED, at=7, ended=3)]
    assert told(spark, fetched(4, 80), commits) == [
        "instance 0 was told that in-0@80 is committed; in the log that position stands only at "
        "__consumer_offsets-1@7, in a transaction of producer 1, epoch 3 that was aborted: "
        "premature-offset."
    ]


def test_a_position_that_was_committed_too_or_may_be_is_fine(spark: SparkSession) -> None:
    aborted = commit(80, ABORTED, at=7, ended=3)
    for other in (COMMITTED, PLAIN, OPEN):
        ended = 5 if other == COMMITTED else None
        assert told(spark, fetched(6, 80), [aborted, commit(80, other, at=9, ended=ended)]) == []
    assert told(spark, fetched(6, 60), [aborted]) == []  # the log was cleaned: nothing is known
    elsewhere = commit(80, ABORTED, at=7, ended=3, group="other")
    assert told(spark, fetched(6, 80), [elsewhere]) == []
    assert told(spark, fetched(6, 80, error=UNSTABLE), [aborted]) == []


def test_a_position_that_a_later_commit_had_replaced_is_stale(spark: SparkSession) -> None:
    commits = [commit(60, COMMITTED, at=5, ended=1), commit(80, COMMITTED, at=7, ended=3)]
    assert told(spark, fetched(10.25, 60), commits) == [
        "instance 0 was told that in-0@60 is committed; 80 had been committed 7.2 s before, at "
        "__consumer_offsets-1@7: stale-offset."
    ]
    assert told(spark, fetched(10.25, -1), commits) == [
        "instance 0 was told that in-0@-1 is committed; 80 had been committed 7.2 s before, at "
        "__consumer_offsets-1@7: stale-offset."
    ]


def test_the_latest_position_and_one_that_may_yet_come_are_not_stale(spark: SparkSession) -> None:
    commits = [commit(60, COMMITTED, at=5, ended=1), commit(80, COMMITTED, at=7, ended=3)]
    assert told(spark, fetched(10, 80), commits) == []
    assert told(spark, fetched(4.5, 60), commits) == []  # the coordinator may be about to
    assert told(spark, fetched(2, 60), commits) == []  # the later one had not ended
    assert told(spark, fetched(10, 60, error=UNSTABLE), commits) == []
    # A position that goes back because the suspect goes back.
    back = [commit(80, COMMITTED, at=5, ended=1), commit(60, COMMITTED, at=7, ended=3)]
    assert told(spark, fetched(10, 60), back) == []
    # Somebody has reset the group.
    assert told(spark, fetched(10, 60), [*commits, commit(60, PLAIN, at=9)]) == []


def test_without_the_log_or_transactions_nothing_is_said(spark: SparkSession) -> None:
    def off(**facts: Any) -> set[str]:
        case = case_of(spark, [asked("a-0", 0)], [came("a-0", 1)], **facts)
        return set(judge(case, ["premature-offset", "stale-offset"]).off)

    frames = fetched(1, 80).rows
    both = {"premature-offset", "stale-offset"}
    assert off(frames=frames, offsets_in_group=True, transactional=True) == both
    assert off(commits=[], offsets_in_group=True, transactional=True) == both
    assert off(frames=frames, commits=[], offsets_in_group=False, transactional=True) == both
    plain = {"frames": frames, "commits": [], "offsets_in_group": True}
    assert off(**plain, transactional=False) == {"stale-offset"}
    assert off(**plain, transactional=True) == set()
