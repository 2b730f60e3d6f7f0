"""Whether a batch is taken for small, or brief, before it is computed."""

import pytest

from onceproof.sink import expectation
from onceproof.sink.expectation import Expectation
from onceproof.sink.lineage import records_in

MIB = 1024 * 1024


class Batches:
    """Stands for Spark's: how many records the next batch reads."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.reads: int | None = None
        monkeypatch.setattr(expectation, "records_to_read", lambda _: self.reads)


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> Batches:
    return Batches(monkeypatch)


def is_small(expected: Expectation) -> bool:
    return expected.is_small(None)  # type: ignore[arg-type]


def test_of_kafka_a_first_batch_is_guessed_at_a_kibibyte_a_record(batches: Batches) -> None:
    batches.reads = 1024
    assert is_small(Expectation(MIB))
    batches.reads = 1025
    assert not is_small(Expectation(MIB))


def test_what_a_record_came_to_is_learnt_and_a_rush_of_records_is_seen_coming(
    batches: Batches,
) -> None:
    expected = Expectation(MIB)
    batches.reads = 10_000
    assert not is_small(expected)
    expected.learn(written_bytes=100_000, seconds=1.0)  # a fold: ten bytes a record read
    assert is_small(expected)
    batches.reads = 1_000_000
    assert not is_small(expected)


def test_of_other_sources_a_batch_is_expected_to_be_like_the_one_before(batches: Batches) -> None:
    batches.reads = None
    expected = Expectation(MIB)
    assert not is_small(expected)
    expected.learn(written_bytes=500, seconds=1.0)
    assert is_small(expected)
    expected.learn(written_bytes=2 * MIB, seconds=1.0)
    assert not is_small(expected)


def test_nothing_is_small_if_the_user_says_so_or_until_a_failed_one_went_by_lanes(
    batches: Batches,
) -> None:
    batches.reads = 1
    assert not is_small(Expectation(0))
    expected = Expectation(MIB)
    expected.was_wrong()
    assert not is_small(expected)
    expected.learn(written_bytes=10, seconds=1.0)
    assert is_small(expected)


def is_brief(expected: Expectation, seconds_max: float = 20.0) -> bool:
    return expected.is_brief(None, seconds_max)  # type: ignore[arg-type]


def test_a_first_batch_is_brief_up_to_a_gibibyte_by_that_guess(batches: Batches) -> None:
    batches.reads = 2**20
    assert is_brief(Expectation(MIB))
    batches.reads = 2**20 + 1
    assert not is_brief(Expectation(MIB))
    batches.reads = None
    assert not is_brief(Expectation(MIB))


def test_how_long_a_record_took_is_learnt_and_a_rush_that_would_take_too_long_is_seen_coming(
    batches: Batches,
) -> None:
    expected = Expectation(MIB)
    batches.reads = 1_000
    is_brief(expected)
    expected.learn(written_bytes=10, seconds=10.0)
    batches.reads = 2_000
    assert is_brief(expected)
    batches.reads = 2_001
    assert not is_brief(expected)


def test_of_a_batch_that_follows_a_very_brief_one_spark_is_not_asked_what_it_reads(
    batches: Batches,
) -> None:
    expected = Expectation(MIB)
    expected.learn(written_bytes=10, seconds=2.0)
    batches.reads = 10**9
    assert is_brief(expected)
    expected.learn(written_bytes=10, seconds=2.1)
    assert is_brief(expected)  # nothing is known of a record yet: it is taken for like the last one
    expected.learn(written_bytes=10, seconds=21.0)
    assert not is_brief(expected)


def test_nothing_is_brief_if_the_user_wants_lanes_or_until_a_failed_one_went_by_them(
    batches: Batches,
) -> None:
    batches.reads = 1
    assert not is_brief(Expectation(0))
    expected = Expectation(MIB)
    expected.was_wrong()
    assert not is_brief(expected)
    expected.learn(written_bytes=10, seconds=1.0)
    assert is_brief(expected)


@pytest.mark.parametrize(
    ("reads", "records"),
    [
        ("Some(KafkaBatchInputPartition(KafkaOffsetRange(in-7-0,25,125,None),{a=b},1))", 100),
        ("List(KafkaBatchInputPartition(KafkaOffsetRange(in-0,5,5,Some(x)),{},2))", 0),
        ("Some(FilePartition(0,[]))", None),
        ("", None),
    ],
)
def test_the_records_of_a_partition_are_read_off_its_range(reads: str, records: int | None) -> None:
    assert records_in(reads) == records
