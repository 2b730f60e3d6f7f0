"""The judge: exact counts, bounded witnesses in order, and every check answered for."""

import json
from typing import Any

import pytest
from histories import asked, came, case_of
from pyspark.sql import SparkSession

from onceproof.checks.judge import judge
from onceproof.errors import UsageError
from onceproof.history.finding import WITNESSES_MAX


def test_the_count_is_exact_and_the_witnesses_are_the_first_by_place(spark: SparkSession) -> None:
    expected = [asked(f"a-{n}", n) for n in range(25)]
    observed = [came(f"a-{n % 25}", n) for n in reversed(range(50))]
    judgement = judge(case_of(spark, expected, observed), ["duplicated"])
    (finding,) = judgement.findings
    assert finding.count == 25
    assert [w.facts["offset"] for w in finding.witnesses] == list(range(25, 25 + WITNESSES_MAX))
    assert json.loads(json.dumps(finding.to_json()))["witnesses"][0] == {
        "sentence": "a-0 came out at out-0@0 and again at out-0@25: duplicated.",
        "topic": "out",
        "partition": 0,
        "offset": 25,
        "key": "a",
        "unit": "a-0",
        "copy": 2,
        "allowed": 1,
        "first_topic": "out",
        "first_partition": 0,
        "first_offset": 0,
        "input_topic": "in",
        "input_partition": 0,
        "input_offset": 0,
    }


def test_a_check_that_crashes_is_unknown_and_the_others_are_carried_out(
    spark: SparkSession,
) -> None:
    good: dict[str, Any] = vars(case_of(spark, [], [came("a-0", 0)], events=[]))
    good["events"] = good["events"].drop("detail")
    judgement = judge(type(case_of(spark))(**good), ["died", "invented", "regressed"])
    assert list(judgement.unknown) == ["died"]
    assert "detail" in judgement.unknown["died"]
    assert [finding.anomaly for finding in judgement.findings] == ["invented"]
    assert judgement.off == ("regressed",)


def test_an_unknown_check_is_the_users_error(spark: SparkSession) -> None:
    with pytest.raises(UsageError, match="unknown check 'loss'"):
        judge(case_of(spark), ["loss"])


def test_a_long_value_is_cut_in_a_witness(spark: SparkSession) -> None:
    (finding,) = judge(case_of(spark, [], [came(None, 0, "x" * 5_000)]), ["wrong"]).findings
    assert len(finding.witnesses[0].sentence) < 300
