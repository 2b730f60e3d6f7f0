"""The input: the same bytes and the same order per key, whatever the parallelism and the slices."""

import json
from collections import Counter, defaultdict
from itertools import pairwise

import pytest
from pyspark.sql import DataFrame, SparkSession

from onceproof.workloads.catalog import WORKLOADS
from onceproof.workloads.input_plan import InputPlan

PLAN = InputPlan.of(seed=7, records=530, keys=10)


def by_key(records: DataFrame) -> dict[str, list[str]]:
    """Values of each key in the order in which tasks emit them."""
    values = defaultdict(list)
    for row in records.collect():
        values[row["key"]].append(row["value"])
    return dict(values)


@pytest.mark.parametrize("name", ["copy", "dedup"])
def test_the_same_seed_gives_the_same_bytes_whatever_the_number_of_tasks(
    spark: SparkSession, name: str
) -> None:
    workload = WORKLOADS[name]
    alone = by_key(workload.generate(spark, PLAN, 0, PLAN.records, tasks=1))
    for tasks in (2, 3, 7, 100):
        assert by_key(workload.generate(spark, PLAN, 0, PLAN.records, tasks=tasks)) == alone
    other_seed = InputPlan.of(seed=8, records=530, keys=10)
    assert by_key(workload.generate(spark, other_seed, 0, 530, tasks=1)) != alone


@pytest.mark.parametrize("name", ["copy", "dedup"])
def test_consecutive_slices_make_the_whole_input(spark: SparkSession, name: str) -> None:
    workload = WORKLOADS[name]
    whole = by_key(workload.generate(spark, PLAN, 0, PLAN.records, tasks=3))
    joined: dict[str, list[str]] = defaultdict(list)
    for start, end in pairwise((0, 1, 9, 10, 25, 25, 137, 530)):
        piece = workload.generate(spark, PLAN, start, end, tasks=3)
        assert piece.count() == end - start
        for key, values in by_key(piece).items():
            joined[key].extend(values)
    assert joined == whole


def test_the_bytes_of_the_input_are_a_contract(spark: SparkSession) -> None:
    first = WORKLOADS["copy"].generate(spark, PLAN, 0, 30, tasks=1).collect()
    assert [tuple(row) for row in first if row["key"] == "3"] == [
        ("3", '{"id":"3-0","seq":0,"value":19}'),
        ("3", '{"id":"3-1","seq":1,"value":14}'),
        ("3", '{"id":"3-2","seq":2,"value":115}'),
    ]


def test_each_key_is_made_in_one_task_and_the_keys_of_a_task_take_turns(
    spark: SparkSession,
) -> None:
    made = WORKLOADS["copy"].generate(spark, PLAN, 0, PLAN.records, tasks=3)
    tasks = made.select("key", "value").rdd.glom().collect()
    homes = Counter(key for task in tasks for key in {row["key"] for row in task})
    assert set(homes.values()) == {1}
    assert len(homes) == 10
    assert [row["key"] for row in tasks[0][:8]] == ["0", "3", "6", "9", "0", "3", "6", "9"]


def test_seq_rises_by_one_from_zero_per_key(spark: SparkSession) -> None:
    made = by_key(WORKLOADS["fold"].generate(spark, PLAN, 0, PLAN.records))
    for key, values in made.items():
        assert [json.loads(value)["seq"] for value in values] == list(range(53)), key


def test_in_dedup_a_fifth_of_the_ids_come_twice_and_none_three_times(spark: SparkSession) -> None:
    plan = InputPlan.of(seed=1, records=6_000, keys=10)
    made = by_key(WORKLOADS["dedup"].generate(spark, plan, 0, plan.records))
    for values in made.values():
        times = Counter(values)
        assert set(times.values()) == {1, 2}
        assert sum(1 for count in times.values() if count == 2) / len(times) == 0.2
        fresh = [json.loads(value)["seq"] for value in dict.fromkeys(values)]
        assert fresh == list(range(len(times)))
    assert len({tuple(values) for values in made.values()}) == 10
