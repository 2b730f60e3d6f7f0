"""Histories written by hand, a line an event: what was asked for, what came out, what happened."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from pyspark.sql import SparkSession

from onceproof.checks.case import Case
from onceproof.checks.judge import judge
from onceproof.history import schemas

AT = datetime(2026, 1, 1, tzinfo=UTC)


class Asked(NamedTuple):
    """A row of EXPECTED."""

    unit: str
    key: str
    ordinal: int
    payload: str
    allowed: int
    input_topic: str
    input_partition: int
    input_offset: int
    input_offset_last: int


class Came(NamedTuple):
    """A row of OBSERVED."""

    unit: str | None
    key: str | None
    ordinal: int | None
    payload: str
    level: int | None
    state_expected: int | None
    state_found: int | None
    topic: str
    partition: int
    offset: int
    timestamp: datetime
    value: str


def asked(
    unit: str,
    offset: int,
    payload: str = "v",
    *,
    partition: int = 0,
    allowed: int = 1,
    last: int | None = None,
) -> Asked:
    """Unit "a-3": record 3 of key a. Unit "a#3": the state of key a after 3 records."""
    key, ordinal = key_and_ordinal(unit)
    place = ordinal if "#" in unit else offset
    end = offset if last is None else last
    return Asked(unit, key, place, payload, allowed, "in", partition, offset, end)


def came(
    unit: str | None,
    offset: int,
    payload: str = "v",
    *,
    partition: int = 0,
    level: int | None = None,
    states: tuple[int, int] = (0, 0),
) -> Came:
    key, ordinal = key_and_ordinal(unit) if unit else (None, None)
    if level is None and unit and "#" in unit:
        level = ordinal
    return Came(unit, key, ordinal, payload, level, *states, "out", partition, offset, AT, payload)


def key_and_ordinal(unit: str) -> tuple[str, int]:
    key, _, ordinal = unit.replace("#", "-").rpartition("-")
    return key, int(ordinal)


def event(at_s: float, kind: str, subject: str = "", **detail: object) -> tuple[Any, ...]:
    return (float(at_s), kind, subject, {name: str(value) for name, value in detail.items()})


def sample(at_s: float, output: int, remaining: int) -> tuple[Any, ...]:
    return event(at_s, "progress", output=output, position=output, remaining=remaining)


def case_of(
    spark: SparkSession,
    expected: Sequence[Asked] = (),
    observed: Sequence[Came] = (),
    *,
    positions: dict[int, int] | None = None,
    batches: Sequence[tuple[Any, ...]] | None = None,
    events: Sequence[tuple[Any, ...]] | None = None,
    frames: Sequence[tuple[Any, ...]] | None = None,
    commits: Sequence[tuple[Any, ...]] | None = None,
    **more: Any,
) -> Case:
    def frame(rows: Any, schema: str) -> Any:
        if rows is None:
            return None
        # One partition, as the judge keeps small tables (trial/judging/tables.py).
        return spark.createDataFrame(list(rows), schema).coalesce(1).cache()

    return Case(
        expected=frame(expected, schemas.EXPECTED),
        observed=frame(observed, schemas.OBSERVED),
        positions=frame(positions and positions.items(), schemas.POSITIONS),
        batches=frame(batches, schemas.BATCHES),
        events=frame(events, schemas.EVENTS),
        frames=frame(frames, schemas.FRAMES),
        commits=frame(commits, schemas.COMMITS),
        **more,
    )


def sentences(case: Case, *names: str) -> list[str]:
    """What the named checks say of the case, whole."""
    judgement = judge(case, names)
    assert not judgement.unknown, judgement.unknown
    assert not judgement.off, judgement.off
    return [witness.sentence for finding in judgement.findings for witness in finding.witnesses]
