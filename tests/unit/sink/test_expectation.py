"""Whether a batch is taken for small, before it is computed."""

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
    expected.learn(written_bytes=100_000)  # a fold: ten bytes a record read
    assert is_small(expected)
    batches.reads = 1_000_000
    assert not is_small(expected)


def test_of_other_sources_a_batch_is_expected_to_be_like_the_one_before(batches: Batches) -> None:
    batches.reads = None
    expected = Expectation(MIB)
    assert not is_small(expected)
    expected.learn(written_bytes=500)
    assert is_small(expected)
    expected.learn(written_bytes=2 * MIB)
    assert not is_small(expected)


def test_nothing_is_small_if_the_user_says_so_or_until_a_failed_one_went_by_lanes(
    batches: Batches,
) -> None:
    batches.reads = 1
    assert not is_small(Expectation(0))
    expected = Expectation(MIB)
    expected.was_wrong()
    assert not is_small(expected)
    expected.learn(written_bytes=10)
    assert is_small(expected)


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
