"""Equal multisets of hashes have equal digests, whatever the order; nothing else does."""

import numpy
from hypothesis import given
from hypothesis import strategies as st

from onceproof.sink.digest import NOTHING, RowsDigest, digest_of_all, mixed

hashed = st.integers(-(2**63), 2**63 - 1)


def digest_of(hashes: list[int], *, pieces: int = 1) -> tuple[int, str]:
    digest = RowsDigest()
    for start in range(pieces):
        digest.add(numpy.array(hashes[start::pieces], numpy.int64))
    return digest.rows, digest.hex()


@given(st.lists(hashed, max_size=6), st.randoms(), st.integers(1, 4))
def test_neither_the_order_nor_the_pieces_matter(hashes: list, random, pieces: int) -> None:
    shuffled = hashes[:]
    random.shuffle(shuffled)
    assert digest_of(hashes) == digest_of(shuffled, pieces=pieces)


@given(st.lists(hashed, max_size=4), hashed)
def test_a_row_more_is_noticed_even_if_it_is_a_repeated_one(hashes: list, more: int) -> None:
    assert digest_of([*hashes, more]) != digest_of(hashes)


@given(st.lists(hashed, min_size=1, max_size=6), st.integers(1, 5))
def test_the_digest_of_all_is_told_by_those_of_the_parts(hashes: list, cut: int) -> None:
    parts = [digest_of(hashes[:cut])[1], digest_of(hashes[cut:])[1]]
    assert digest_of_all(parts) == digest_of(hashes)[1]


def test_the_sums_go_round_at_64_bits_each() -> None:
    largest = 2**63 - 1
    rows, digest = digest_of([largest, largest, 2])
    assert (rows, digest[:16]) == (3, f"{0:016x}")


def test_other_rows_with_the_same_sum_of_hashes_are_noticed_by_the_mixed_ones() -> None:
    assert digest_of([1, 4])[1][:16] == digest_of([2, 3])[1][:16]
    assert digest_of([1, 4]) != digest_of([2, 3])


def test_hashes_are_mixed_as_splitmix64_does() -> None:
    """Digest.java does the same; these are the first numbers of that generator for seed 0."""
    golden = 0x9E3779B97F4A7C15
    steps = numpy.array([golden, 2 * golden % 2**64], numpy.uint64)
    assert [int(each) for each in mixed(steps)] == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4]


def test_nothing_is_the_digest_of_no_rows() -> None:
    assert digest_of([]) == (0, NOTHING)
