"""Equal multisets of rows have equal digests, whatever the order; nothing else does."""

from hypothesis import given
from hypothesis import strategies as st

from onceproof.sink.digest import RowsDigest

field = st.none() | st.binary(max_size=4)
header = st.tuples(st.text(max_size=2), field)
row = st.tuples(
    st.sampled_from(["a", "b"]),
    st.none() | st.integers(0, 3),
    field,
    field,
    st.none() | st.lists(header, max_size=2),
)


def digest_of(rows: list) -> tuple[int, str]:
    digest = RowsDigest()
    for each in rows:
        digest.add(*each)
    return digest.rows, digest.hex()


@given(st.lists(row, max_size=6), st.randoms())
def test_the_order_of_rows_does_not_matter(rows: list, random) -> None:
    shuffled = rows[:]
    random.shuffle(shuffled)
    assert digest_of(rows) == digest_of(shuffled)


@given(st.lists(row, max_size=4), st.lists(row, max_size=4))
def test_different_multisets_differ(one: list, other: list) -> None:
    def canonical(rows: list) -> list:
        # A row without headers and one with an empty list of them are the same record in Kafka.
        return sorted(repr((*each[:4], each[4] or [])) for each in rows)

    assert (digest_of(one) == digest_of(other)) == (canonical(one) == canonical(other))


def test_a_repeated_row_counts() -> None:
    twice = ("a", None, b"k", b"v", None)
    assert digest_of([twice, twice]) != digest_of([twice])
    assert digest_of([twice, twice])[1] != digest_of([])[1]


def test_an_absent_field_is_not_an_empty_one_and_fields_do_not_run_together() -> None:
    assert digest_of([("a", None, None, b"", None)]) != digest_of([("a", None, b"", None, None)])
    assert digest_of([("a", None, b"xy", b"z", None)]) != digest_of(
        [("a", None, b"x", b"yz", None)]
    )
