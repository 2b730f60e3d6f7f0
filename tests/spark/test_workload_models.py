"""The Spark models against plain-Python ones: what the input must lead to."""

import json
import random
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from topics import Record, compact, fed, topic

from onceproof.history import schemas
from onceproof.workloads.catalog import WORKLOADS


def rows(frame: DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in frame.select(*columns).collect())


EXPECTED = ("unit", "key", "ordinal", "payload", "allowed", "input_offset", "input_offset_last")


def naive_units(records: list[Record], payload: Any, once: bool) -> list[tuple[Any, ...]]:
    """copy, dedup and last: each id with the places that ask for it."""
    places: dict[str, list[Record]] = {}
    for record in sorted(records):
        places.setdefault(json.loads(record.value)["id"], []).append(record)
    return sorted(
        (
            unit,
            first.key,
            first.offset,
            payload(first),
            1 if once else len(asked),
            first.offset,
            first.offset if once else asked[-1].offset,
        )
        for unit, asked in places.items()
        for first in asked[:1]
    )


def naive_fold(records: list[Record]) -> list[tuple[Any, ...]]:
    counts: dict[str, int] = {}
    maxima: dict[str, int] = {}
    states = []
    for record in sorted(records):
        value = json.loads(record.value)
        key = record.key
        counts[key] = counts.get(key, 0) + 1
        maxima[key] = max(maxima.get(key, value["value"]), value["value"])
        payload = f"max {maxima[key]}, id {value['id']}"
        place = record.offset
        states.append((f"{key}#{counts[key]}", key, counts[key], payload, 1, place, place))
    return sorted(states)


def naive(name: str, records: list[Record]) -> list[tuple[Any, ...]]:
    if name == "fold":
        return naive_fold(records)
    if name == "last":
        return naive_units(
            records, lambda r: f"key {r.key} expects {json.loads(r.value)['seq'] - 1}", once=False
        )
    return naive_units(records, lambda r: f"{r.key} {r.value}", once=name == "dedup")


def random_input(seed: int) -> list[Record]:
    """Some keys over some partitions, here and there a run of records that was written again."""
    chance = random.Random(seed)
    records: list[Record] = []
    for partition in range(3):
        offset = 0
        keys = [f"{seed}.{partition}.{number}" for number in range(chance.randint(1, 3))]
        written: list[Record] = []
        seqs = dict.fromkeys(keys, 0)
        for _ in range(chance.randint(0, 12)):
            if written and chance.random() < 0.2:
                again = chance.choice(written)
                record = again._replace(offset=offset)
            else:
                key = chance.choice(keys)
                record = fed(partition, offset, key, seqs[key], chance.randint(-5, 50))
                seqs[key] += 1
            written.append(record)
            offset += chance.randint(1, 3)  # transaction markers take offsets too
        records += written
    return records


@pytest.mark.parametrize("name", WORKLOADS)
def test_expected_agrees_with_the_naive_model(spark: SparkSession, name: str) -> None:
    records = [record for seed in range(60) for record in random_input(seed)]
    expected = WORKLOADS[name].expected(topic(spark, "in", records))
    # Offsets repeat between seeds, ids and keys do not, so all cases are judged in one job.
    assert rows(expected, *EXPECTED) == naive(name, records)


def test_fold_reads_its_states_from_the_output(spark: SparkSession) -> None:
    output = topic(
        spark,
        "out",
        [
            Record(0, 0, "a", compact(key="a", count=2, max=9, id="a-1")),
            Record(0, 1, "a", compact(key="a", count=3, id="a-2")),
            Record(0, 2, "a", "3"),
            Record(0, 3, None, None),
        ],
    )
    observed = WORKLOADS["fold"].observed(output)
    assert observed.select("offset", "unit", "key", "ordinal", "payload", "level").orderBy(
        "offset"
    ).collect() == [
        (0, "a#2", "a", 2, "max 9, id a-1", 9),
        (1, None, "a", 3, "max null, id a-2", None),
        (2, None, "a", None, "max null, id null", None),
        (3, None, None, None, "max null, id null", None),
    ]


def test_last_keeps_what_was_found_out_of_the_payload(spark: SparkSession) -> None:
    output = topic(
        spark,
        "out",
        [
            Record(0, 0, "a", compact(id="a-0", key="a", expected=-1, found=None)),
            Record(0, 1, "a", compact(id="a-1", key="a", expected=0, found=-1)),
            Record(0, 2, "a", compact(id="a-1", key="a", expected=0, found=0)),
        ],
    )
    observed = WORKLOADS["last"].observed(output)
    assert rows(observed, "offset", "unit", "payload", "state_expected", "state_found") == [
        (0, "a-0", "key a expects -1", -1, -1),
        (1, "a-1", "key a expects 0", 0, -1),
        (2, "a-1", "key a expects 0", 0, 0),
    ]


@pytest.mark.parametrize("name", ["copy", "dedup"])
def test_a_copy_is_the_same_to_the_byte_and_under_the_same_key(
    spark: SparkSession, name: str
) -> None:
    record = fed(0, 0, "a", 0)
    expected = WORKLOADS[name].expected(topic(spark, "in", [record]))
    output = [record, record._replace(offset=1, key=None), record._replace(offset=2, key="b")]
    spaced = Record(0, 3, "a", '{"id": "a-0", "seq": 0, "value": 0}')
    observed = WORKLOADS[name].observed(topic(spark, "out", [*output, spaced]))
    allowed = rows(expected, "payload")[0]
    assert [row for row in rows(observed, "payload") if row == allowed] == [allowed]


def flaws(spark: SparkSession, name: str, records: list[Record], method: str) -> list[str]:
    found = getattr(WORKLOADS[name], method)(topic(spark, "in", records))
    return [row[0] for row in rows(found, "sentence")]


def test_an_input_as_meant_has_no_flaws(spark: SparkSession) -> None:
    clean = [fed(0, 0, "a", 0), fed(0, 1, "b", 0), fed(0, 2, "a", 1), fed(1, 0, "c", 0)]
    for name in WORKLOADS:
        assert flaws(spark, name, clean, "input_flaws") == []
    repeated_once = [*clean, fed(0, 3, "a", 0)]
    assert flaws(spark, "dedup", repeated_once, "input_flaws") == []


def test_flaws_of_the_input_are_told_with_their_place(spark: SparkSession) -> None:
    retried = [fed(0, 0, "a", 0), fed(0, 1, "a", 1), fed(0, 2, "a", 0), fed(0, 3, "a", 1)]
    assert flaws(spark, "last", retried, "fatal_flaws") == [
        "in-0@2 holds a-0 for the 2. time",
        "in-0@3 holds a-1 for the 2. time",
    ]
    assert flaws(spark, "copy", retried, "input_flaws") != []
    assert flaws(spark, "copy", retried, "fatal_flaws") == []
    gap = [fed(0, 0, "a", 0), fed(0, 1, "a", 2)]
    assert flaws(spark, "last", gap, "fatal_flaws") == [
        "in-0@1 holds seq 2 of key a where 1 was awaited"
    ]
    alien = [Record(0, 0, "a", "hello")]
    assert flaws(spark, "copy", alien, "fatal_flaws") == ["in-0@0 cannot be understood"]
    thrice = [fed(0, offset, "a", 0) for offset in range(3)]
    assert flaws(spark, "dedup", thrice, "input_flaws") == ["in-0@2 holds a-0 for the 3. time"]


@pytest.mark.parametrize("name", WORKLOADS)
def test_models_have_the_shape_that_the_checks_are_written_for(
    spark: SparkSession, name: str
) -> None:
    """The checks' own tests know only the schemas: a model that strays from them is seen here."""

    def shape(ddl: str) -> dict[str, str]:
        return dict(spark.createDataFrame([], ddl).dtypes)

    records = spark.createDataFrame([], schemas.RECORDS)
    assert dict(WORKLOADS[name].expected(records).dtypes) == shape(schemas.EXPECTED)
    assert dict(WORKLOADS[name].observed(records).dtypes) == shape(schemas.OBSERVED)
