"""Random small histories, judged by Spark and by a naive reading of each definition.

Every history has keys and partitions of its own, so that all of them are judged in one job a check.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from histories import Asked, Came, asked, came, case_of
from pyspark.sql import SparkSession

from onceproof.checks.catalog import CHECKS
from onceproof.trial.judging.small import SETTINGS

HISTORIES = 300
Places = list[tuple[Any, ...]]
LARGE = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.autoBroadcastJoinThreshold": "10485760",
    "spark.sql.optimizer.disableHints": "false",
}


@pytest.fixture(autouse=True, params=["small", "large"])
def way(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[None]:
    """Small inputs are judged the one way, large ones the other (trial/judging/small.py)."""
    before = {name: spark.conf.get(name) for name in LARGE}
    for name, value in (SETTINGS if request.param == "small" else LARGE).items():
        spark.conf.set(name, value)
    yield
    for name, old in before.items():
        spark.conf.set(name, old)


def test_both_ways_are_ways_of_the_same_settings() -> None:
    assert set(LARGE) == set(SETTINGS)


def chance_history(seed: int, cumulative: bool) -> tuple[list[Asked], list[Came], int | None]:
    """A few inputs; outputs that mostly follow them, with lies of all kinds; perhaps a position."""
    chance = random.Random(seed)
    mark = "#" if cumulative else "-"
    keys = [f"{seed}x{name}" for name in "ab"[: chance.randint(1, 2)]]
    numbers = dict.fromkeys(keys, 0 if cumulative else -1)
    inputs = []
    for offset in range(chance.randint(1, 6)):
        key = chance.choice(keys)
        numbers[key] += 1
        allowed = 2 if not cumulative and chance.random() < 0.1 else 1
        unit = f"{key}{mark}{numbers[key]}"
        last = offset + 10 if allowed == 2 else offset
        inputs.append(asked(unit, offset, "v", partition=seed, allowed=allowed, last=last))
    units = [row.unit for row in inputs for _ in range(row.allowed) if chance.random() < 0.8]
    lies = chance.choices(units or [inputs[0].unit], k=chance.choice([0, 0, 1, 2]))
    lies += [f"{keys[0]}{mark}99"] * chance.choice([0, 0, 0, 1, 2])
    lies += [f"{seed}xz{mark}1"] * chance.choice([0, 0, 0, 1])
    for unit in lies:
        units.insert(chance.randint(len(units) // 2, len(units)), unit)
    if chance.random() < 0.3 and len(units) > 1:
        units[0], units[-1] = units[-1], units[0]
    outputs = []
    for offset, unit in enumerate(units):
        said = None if chance.random() < 0.05 else unit
        payload = "w" if chance.random() < 0.1 else "v"
        home = seed + HISTORIES * (chance.random() < 0.1)
        level = chance.choice([3, 4]) if chance.random() < 0.1 else None
        found = (0, chance.choice([0, 0, 0, 1]))
        outputs.append(came(said, 2 * offset, payload, partition=home, level=level, states=found))
    return inputs, outputs, chance.choice([None, 0, 3, 10, 20])


def understood(outputs: Iterable[Came]) -> list[Came]:
    """By place, as all definitions take them."""
    return sorted((o for o in outputs if o.unit), key=lambda o: (o.partition, o.offset))


def by_unit(outputs: Iterable[Came]) -> dict[str, list[Came]]:
    groups: dict[str, list[Came]] = defaultdict(list)
    for output in understood(outputs):
        groups[str(output.unit)].append(output)
    return groups


def diverged_units(outputs: Iterable[Came]) -> set[str]:
    return {unit for unit, rows in by_unit(outputs).items() if len({r.payload for r in rows}) > 1}


def lost(
    inputs: list[Asked], outputs: list[Came], position: int | None, cumulative: bool
) -> Places:
    seen = by_unit(outputs)
    if position is None:
        position = max((i.input_offset for i in inputs if i.unit in seen), default=-1) + 1
    places = []
    for row in inputs:
        if row.input_offset >= position:
            continue
        if cumulative:
            reached = [o.ordinal for o in understood(outputs) if o.key == row.key]
            missing = not any(number >= row.ordinal for number in reached if number is not None)
        else:
            due = row.allowed if row.input_offset_last < position else 1
            missing = len(seen.get(row.unit, [])) < due
        if missing:
            places.append((row.input_partition, row.input_offset))
    return places


def went_back(outputs: list[Came]) -> list[Came]:
    guilty = []
    for output in understood(outputs):
        before = [
            o
            for o in understood(outputs)
            if (o.partition, o.key) == (output.partition, output.key) and o.offset < output.offset
        ]
        if any(o.ordinal > output.ordinal or o.level > output.level for o in before):
            guilty.append(output)
    return guilty


def duplicated(inputs: list[Asked], outputs: list[Came], _: int | None, cumulative: bool) -> Places:
    allowed = {row.unit: row.allowed for row in inputs}
    guilty = []
    for unit, rows in by_unit(outputs).items():
        if unit in allowed and unit not in diverged_units(outputs):
            guilty += rows[allowed[unit] :]
    excused = went_back(outputs) if cumulative else []
    return [(o.partition, o.offset) for o in guilty if o not in excused]


def diverged(inputs: list[Asked], outputs: list[Came], _: int | None, __: bool) -> Places:
    places = []
    for unit in diverged_units(outputs) & {row.unit for row in inputs}:
        rows = by_unit(outputs)[unit]
        other = next(o for o in rows if o.payload != rows[0].payload)
        places.append((other.partition, other.offset))
    return places


def wrong(inputs: list[Asked], outputs: list[Came], _: int | None, cumulative: bool) -> Places:
    allowed = {row.unit: row.payload for row in inputs}
    keys = {row.key for row in inputs}
    places = []
    for output in outputs:
        if output.unit is None:
            guilty = True
        elif output.unit in allowed:
            differs = output.payload != allowed[output.unit]
            guilty = differs and output.unit not in diverged_units(outputs)
        else:
            guilty = cumulative and output.key in keys
        if guilty:
            places.append((output.partition, output.offset))
    return places


def invented(inputs: list[Asked], outputs: list[Came], _: int | None, cumulative: bool) -> Places:
    known = {row.key if cumulative else row.unit for row in inputs}
    return [
        (o.partition, o.offset)
        for o in understood(outputs)
        if (o.key if cumulative else o.unit) not in known
    ]


def stale(_: list[Asked], outputs: list[Came], __: int | None, ___: bool) -> Places:
    return [
        (o.partition, o.offset) for o in understood(outputs) if o.state_found != o.state_expected
    ]


def regressed(_: list[Asked], outputs: list[Came], __: int | None, ___: bool) -> Places:
    return [(o.partition, o.offset) for o in went_back(outputs)]


def reordered(inputs: list[Asked], outputs: list[Came], _: int | None, __: bool) -> Places:
    asked_for = {row.unit: row for row in inputs}
    firsts = [rows[0] for unit, rows in by_unit(outputs).items() if unit in asked_for]
    places = []
    for output in firsts:
        mine = asked_for[str(output.unit)]
        for other in firsts:
            theirs = asked_for[str(other.unit)]
            comes_before = other.partition == output.partition and other.offset < output.offset
            if comes_before and theirs.key == mine.key and theirs.ordinal > mine.ordinal:
                places.append((output.partition, output.offset))
                break
    return places


Oracle = Callable[[list[Asked], list[Came], int | None, bool], Places]
RECORDS: list[Oracle] = [lost, duplicated, diverged, wrong, invented, stale, reordered]
STATES: list[Oracle] = [lost, duplicated, diverged, wrong, invented, regressed]


@pytest.mark.parametrize(("cumulative", "oracles"), [(False, RECORDS), (True, STATES)])
def test_spark_and_the_naive_reading_agree(
    spark: SparkSession, cumulative: bool, oracles: list[Oracle]
) -> None:
    histories = [chance_history(seed, cumulative) for seed in range(HISTORIES)]
    case = case_of(
        spark,
        [row for inputs, _, _ in histories for row in inputs],
        [row for _, outputs, _ in histories for row in outputs],
        positions={seed: p for seed, (_, _, p) in enumerate(histories) if p is not None},
        cumulative=cumulative,
    )
    case.expected.cache()
    case.observed.cache()
    for oracle in oracles:
        check = CHECKS[oracle.__name__]
        place = [name for name in check.order if name.endswith(("partition", "offset"))]
        found = sorted(tuple(row) for row in check.find(case).select(*place).collect())
        awaited = [place for history in histories for place in oracle(*history, cumulative)]
        assert found == sorted(awaited), check.name
        assert len(awaited) > 20, f"the random histories hardly ever show {check.name}"
