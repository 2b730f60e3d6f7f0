"""The checks on records (copy, dedup, last): found, absent, near miss."""

from histories import asked, came, case_of, sentences
from pyspark.sql import SparkSession

RECORD_CHECKS = (
    "lost",
    "duplicated",
    "diverged",
    "stale",
    "wrong",
    "invented",
    "reordered",
)


def test_a_clean_history_is_acquitted_of_everything(spark: SparkSession) -> None:
    case = case_of(
        spark,
        [asked("a-0", 0), asked("b-0", 1), asked("a-1", 2), asked("a-2", 3)],
        [came("b-0", 0), came("a-0", 1), came("a-1", 3)],
        positions={0: 3},
    )
    assert sentences(case, *RECORD_CHECKS) == []


def test_lost_is_an_input_that_was_passed_over(spark: SparkSession) -> None:
    case = case_of(
        spark,
        [asked("17-57", 400), asked("17-58", 401), asked("17-59", 402), asked("17-60", 403)],
        [came("17-57", 7), came("17-59", 8)],
        positions={0: 403},
    )
    assert sentences(case, *RECORD_CHECKS) == [
        "17-58 (in-0@401) never came out, though the suspect has read on to in-0@403: lost."
    ]


def test_what_the_suspect_has_not_read_yet_is_not_lost(spark: SparkSession) -> None:
    expected = [asked("a-0", 0), asked("a-1", 1), asked("b-0", 0, partition=1)]
    case = case_of(spark, expected, [came("a-0", 0)], positions={0: 1, 1: 0})
    assert sentences(case, "lost") == []


def test_without_a_position_a_successor_that_came_out_shows_what_was_passed_over(
    spark: SparkSession,
) -> None:
    expected = [asked("a-0", 0), asked("b-0", 1), asked("a-1", 2), asked("c-0", 0, partition=1)]
    observed = [came("a-0", 0), came("a-1", 1)]
    lost = ["b-0 (in-0@1) never came out, though the suspect has read on to in-0@3: lost."]
    assert sentences(case_of(spark, expected, observed), "lost") == lost
    # Partition 1's position is known, partition 0's is not.
    assert sentences(case_of(spark, expected, observed, positions={1: 0}), "lost") == lost
    late = case_of(spark, expected, observed, positions={1: 0}, settled=False)
    assert sentences(late, "lost") == []
    assert sentences(case_of(spark, expected, observed, settled=False), "lost") == []


def test_an_id_that_is_twice_in_the_input_must_come_twice_once_both_were_read(
    spark: SparkSession,
) -> None:
    expected = [asked("a-0", 0, allowed=2, last=5), asked("a-1", 1)]
    once = [came("a-0", 0), came("a-1", 1)]
    assert sentences(case_of(spark, expected, once, positions={0: 6}), *RECORD_CHECKS) == [
        "a-0 (in-0@0) came out 1 of 2 times, though the suspect has read on to in-0@6: lost."
    ]
    assert sentences(case_of(spark, expected, once, positions={0: 5}), *RECORD_CHECKS) == []
    twice = [*once, came("a-0", 2)]
    assert sentences(case_of(spark, expected, twice, positions={0: 6}), *RECORD_CHECKS) == []
    thrice = [*twice, came("a-0", 3)]
    assert sentences(case_of(spark, expected, thrice, positions={0: 6}), *RECORD_CHECKS) == [
        "a-0 came out at out-0@0 and for the 3. time at out-0@3 "
        "(the input has it 2 times): duplicated."
    ]


def test_duplicated_is_an_equal_output_that_comes_again(spark: SparkSession) -> None:
    case = case_of(
        spark,
        [asked("17-57", 400), asked("17-58", 401)],
        [came("17-57", 400), came("17-58", 401), came("17-57", 976), came("17-58", 977)],
        positions={0: 402},
    )
    assert sentences(case, *RECORD_CHECKS) == [
        "17-57 came out at out-0@400 and again at out-0@976: duplicated.",
        "17-58 came out at out-0@401 and again at out-0@977: duplicated.",
    ]


def test_a_duplicate_in_another_partition_is_found_too(spark: SparkSession) -> None:
    case = case_of(spark, [asked("a-0", 0)], [came("a-0", 9), came("a-0", 3, partition=1)])
    assert sentences(case, *RECORD_CHECKS) == [
        "a-0 came out at out-0@9 and again at out-1@3: duplicated."
    ]


def test_diverged_owns_the_outputs_of_one_input_that_differ(spark: SparkSession) -> None:
    case = case_of(
        spark,
        [asked("17-58", 401, "58"), asked("17-59", 402, "59")],
        [came("17-58", 7, "58"), came("17-59", 8, "59"), came("17-58", 9, "31")],
        positions={0: 403},
    )
    assert sentences(case, *RECORD_CHECKS) == [
        "17-58 came out at out-0@7 as (58) and at out-0@9 as (31): diverged."
    ]


def test_wrong_is_a_value_the_model_does_not_allow(spark: SparkSession) -> None:
    case = case_of(
        spark,
        [asked("17-58", 401, "58"), asked("17-59", 402, "59")],
        [came("17-58", 7, "31"), came("17-59", 8, "59")],
        positions={0: 403},
    )
    assert sentences(case, *RECORD_CHECKS) == [
        "17-58 is (31) at out-0@7; in-0@401 allows only (58): wrong."
    ]


def test_a_value_that_cannot_be_understood_is_wrong(spark: SparkSession) -> None:
    case = case_of(spark, [asked("a-0", 0)], [came("a-0", 0), came(None, 1, "hello")])
    assert sentences(case, *RECORD_CHECKS) == [
        "out-0@1 holds (hello), which is no output of this workload: wrong."
    ]


def test_a_wrong_value_twice_is_wrong_and_duplicated_but_not_diverged(
    spark: SparkSession,
) -> None:
    case = case_of(spark, [asked("a-0", 0, "1")], [came("a-0", 0, "2"), came("a-0", 1, "2")])
    assert sentences(case, *RECORD_CHECKS) == [
        "a-0 came out at out-0@0 and again at out-0@1: duplicated.",
        "a-0 is (2) at out-0@0; in-0@0 allows only (1): wrong.",
        "a-0 is (2) at out-0@1; in-0@0 allows only (1): wrong.",
    ]


def test_invented_is_an_output_without_input_whatever_it_says(spark: SparkSession) -> None:
    case = case_of(
        spark,
        [asked("17-58", 401)],
        [came("17-58", 7), came("17-999", 8, "x"), came("17-999", 9, "y")],
        positions={0: 402},
    )
    assert sentences(case, *RECORD_CHECKS) == [
        "17-999 (x) at out-0@8 has no input: invented.",
        "17-999 (y) at out-0@9 has no input: invented.",
    ]


def test_stale_is_a_state_found_that_is_not_the_one_expected(spark: SparkSession) -> None:
    case = case_of(
        spark,
        [asked("17-57", 400), asked("17-58", 401)],
        [came("17-57", 976, states=(56, 56)), came("17-58", 977, states=(57, 31))],
        positions={0: 402},
    )
    assert sentences(case, *RECORD_CHECKS) == [
        "17-58 expected 57 but found 31 at out-0@977: stale."
    ]


def test_reordered_counts_each_output_that_comes_after_its_successor_once(
    spark: SparkSession,
) -> None:
    case = case_of(
        spark,
        [asked("17-57", 300), asked("17-58", 301), asked("17-59", 302), asked("17-60", 303)],
        [came("17-58", 401), came("17-60", 402), came("17-57", 403), came("17-59", 404)],
        positions={0: 304},
    )
    assert sentences(case, *RECORD_CHECKS) == [
        "17-57 (in-0@300) came out at out-0@403, after its successor "
        "17-60 (in-0@303) at out-0@402: reordered.",
        "17-59 (in-0@302) came out at out-0@404, after its successor "
        "17-60 (in-0@303) at out-0@402: reordered.",
    ]


def test_other_keys_other_partitions_and_duplicates_do_not_change_the_order(
    spark: SparkSession,
) -> None:
    expected = [asked("a-0", 0), asked("b-0", 1), asked("a-1", 2)]
    keys = [came("b-0", 0), came("a-0", 1), came("a-1", 2)]
    assert sentences(case_of(spark, expected, keys), "reordered") == []
    partitions = [came("a-1", 0), came("a-0", 1, partition=1)]
    assert sentences(case_of(spark, expected, partitions), "reordered") == []
    duplicates = [came("a-0", 0), came("a-1", 1), came("a-0", 2)]
    assert sentences(case_of(spark, expected, duplicates), "reordered") == []


BATCHES = [
    # partition, base, last, records, producer, epoch, transactional, outcome, marker
    (0, 0, 1, 2, 4000, 3, True, "COMMITTED", 2),
    (0, 3, 4, 2, 4000, 3, True, "ABORTED", 5),
    (0, 6, 6, 1, -1, -1, False, "NONE", None),
    (0, 7, 7, 1, -1, -1, False, "NONE", None),
    (1, 0, 9, 10, 4001, 0, True, "COMMITTED", 10),
]


def test_leaked_is_a_visible_record_of_an_aborted_transaction(spark: SparkSession) -> None:
    observed = [came("a-0", 1), came("a-1", 4), came("a-2", 6), came("a-3", 4, partition=1)]
    case = case_of(spark, [], observed, batches=BATCHES, transactional=False)
    assert sentences(case, "leaked") == [
        "a-1 at out-0@4 can be read, but 3 to 4 of producer 4000, epoch 3 was aborted: leaked."
    ]


def test_leaked_is_also_a_record_outside_any_transaction_of_a_suspect_that_promises_them(
    spark: SparkSession,
) -> None:
    observed = [came("a-0", 1), came("a-2", 6), came("a-3", 7)]
    case = case_of(spark, [], observed, batches=BATCHES, transactional=True)
    assert sentences(case, "leaked") == [
        "a-2 at out-0@6 can be read, but 6 to 7 of producer -1, epoch -1 "
        "was written outside any transaction: leaked.",
        "a-3 at out-0@7 can be read, but 6 to 7 of producer -1, epoch -1 "
        "was written outside any transaction: leaked.",
    ]
    unknown = case_of(spark, [], observed, batches=BATCHES, transactional=None)
    assert sentences(unknown, "leaked") == []
