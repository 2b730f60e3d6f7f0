"""Equal multisets of hashes have equal digests, whatever the order; nothing else does."""

import numpy
from hypothesis import given
from hypothesis import strategies as st

from onceproof.sink.digest import NOTHING, RowsDigest

number = st.integers(-(2**63), 2**63 - 1)
row = st.tuples(number, number)


def digest_of(rows: list[tuple[int, int]], *, pieces: int = 1) -> tuple[int, str]:
    digest = RowsDigest()
    for start in range(pieces):
        part = rows[start::pieces]
        first, second = (numpy.array([each[n] for each in part], numpy.int64) for n in (0, 1))
        digest.add(first, second)
    return digest.rows, digest.hex()


@given(st.lists(row, max_size=6), st.randoms(), st.integers(1, 4))
def test_neither_the_order_nor_the_pieces_matter(rows: list, random, pieces: int) -> None:
    shuffled = rows[:]
    random.shuffle(shuffled)
    assert digest_of(rows) == digest_of(shuffled, pieces=pieces)


@given(st.lists(row, max_size=4), row)
def test_a_row_more_is_noticed_even_if_it_is_a_repeated_one(rows: list, more: tuple) -> None:
    assert digest_of([*rows, more]) != digest_of(rows)


def test_the_sums_go_round_at_64_bits_each() -> None:
    largest = 2**63 - 1
    rows = [(largest, -1), (largest, -1), (2, 2)]
    assert digest_of(rows) == (3, f"{0:016x}{0:016x}")


def test_nothing_is_the_digest_of_no_rows() -> None:
    assert digest_of([]) == (0, NOTHING)
