"""The checks on cumulative outputs (fold): each output is a state of its key."""

from histories import asked, came, case_of, sentences
from pyspark.sql import SparkSession

STATE_CHECKS = ("lost", "duplicated", "diverged", "regressed", "wrong", "invented")
INPUT = [asked("a#1", 0), asked("a#2", 1), asked("b#1", 2), asked("a#3", 3)]


def test_states_in_between_may_be_skipped(spark: SparkSession) -> None:
    observed = [came("a#3", 0), came("b#1", 1)]
    case = case_of(spark, INPUT, observed, positions={0: 4}, cumulative=True)
    assert sentences(case, *STATE_CHECKS) == []


def test_a_last_state_that_never_came_is_lost(spark: SparkSession) -> None:
    observed = [came("a#2", 0)]
    case = case_of(spark, INPUT, observed, positions={0: 4}, cumulative=True)
    assert sentences(case, *STATE_CHECKS) == [
        "b#1 (in-0@2) never came out, nor a later state of key b, "
        "though the suspect has read on to in-0@4: lost.",
        "a#3 (in-0@3) never came out, nor a later state of key a, "
        "though the suspect has read on to in-0@4: lost.",
    ]
    not_read_yet = case_of(spark, INPUT, observed, positions={0: 2}, cumulative=True)
    assert sentences(not_read_yet, *STATE_CHECKS) == []


def test_regressed_is_a_state_that_goes_back(spark: SparkSession) -> None:
    expected = [asked("17#31", 30), asked("17#57", 56), asked("17#58", 57)]
    observed = [came("17#57", 400), came("17#58", 401), came("17#31", 977)]
    case = case_of(spark, expected, observed, positions={0: 58}, cumulative=True)
    assert sentences(case, *STATE_CHECKS) == [
        "key 17 was 58 at out-0@401, then 31 at out-0@977: regressed."
    ]


def test_an_old_state_word_for_word_after_a_newer_one_is_regressed_not_duplicated(
    spark: SparkSession,
) -> None:
    observed = [came("a#1", 0), came("a#3", 1), came("a#1", 2), came("b#1", 3)]
    case = case_of(spark, INPUT, observed, positions={0: 4}, cumulative=True)
    assert sentences(case, *STATE_CHECKS) == [
        "key a was 3 at out-0@1, then 1 at out-0@2: regressed."
    ]


def test_the_newest_state_again_is_duplicated_not_regressed(spark: SparkSession) -> None:
    observed = [came("b#1", 0), came("a#3", 1), came("a#3", 2)]
    case = case_of(spark, INPUT, observed, positions={0: 4}, cumulative=True)
    assert sentences(case, *STATE_CHECKS) == [
        "a#3 came out at out-0@1 and again at out-0@2: duplicated."
    ]


def test_a_max_that_falls_is_regressed_though_the_count_rises(spark: SparkSession) -> None:
    observed = [came("a#1", 0, level=90), came("a#2", 1, level=90), came("a#3", 2, level=31)]
    case = case_of(spark, INPUT, [*observed, came("b#1", 3)], cumulative=True)
    assert sentences(case, *STATE_CHECKS) == [
        "the max of key a was 90 at out-0@0, then 31 at out-0@2: regressed."
    ]


def test_other_keys_and_partitions_do_not_regress_a_key(spark: SparkSession) -> None:
    observed = [came("a#3", 0), came("b#1", 1), came("a#2", 0, partition=1)]
    case = case_of(spark, INPUT, observed, cumulative=True)
    assert sentences(case, "regressed") == []


def test_a_count_the_key_never_reached_is_wrong_and_an_unknown_key_is_invented(
    spark: SparkSession,
) -> None:
    observed = [came("b#1", 0), came("a#4", 1), came("z#1", 2)]
    case = case_of(spark, INPUT, observed, positions={0: 4}, cumulative=True)
    assert sentences(case, *STATE_CHECKS) == [
        "a#4 at out-0@1, but the input takes the key only to 3: wrong.",
        "z#1 (v) at out-0@2 has no input: invented.",
    ]


def test_a_state_told_in_two_ways_is_diverged_and_regressed_if_it_came_late(
    spark: SparkSession,
) -> None:
    observed = [came("b#1", 0), came("a#2", 1), came("a#2", 2, "w"), came("a#3", 3)]
    case = case_of(spark, INPUT, observed, positions={0: 4}, cumulative=True)
    assert sentences(case, *STATE_CHECKS) == [
        "a#2 came out at out-0@1 as (v) and at out-0@2 as (w): diverged."
    ]
