"""Records of `__consumer_offsets`, byte by byte as Kafka writes them."""

import struct

import pytest

from onceproof.cluster.offset_commits import parse_commit, partition_of


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack(">h", len(data)) + data


def key(version: int = 1) -> bytes:
    return struct.pack(">h", version) + text("g") + text("in") + struct.pack(">i", 3)


@pytest.mark.parametrize("version", [0, 1, 3, 4])
def test_a_commit_tells_group_place_and_position(version: int) -> None:
    value = struct.pack(">hq", version, 401) + b"\xff\xff\xff\xff" + text("") + b"\0" * 8
    assert parse_commit(key(), value) == ("g", "in", 3, 401)


def test_a_commit_that_was_taken_back_has_no_position() -> None:
    assert parse_commit(key(version=0), None) == ("g", "in", 3, None)


def test_what_speaks_of_groups_and_members_is_no_commit() -> None:
    assert parse_commit(key(version=2), b"\0\3") is None
    assert parse_commit(None, b"") is None


@pytest.mark.parametrize(
    ("group", "partition"),
    [
        ("", 0),
        ("a", 97 % 50),
        ("my-group", 12),
        ("onceproof-ready", 21),
        ("gruppe-ü", 22),
    ],
)
def test_the_partition_of_a_group_is_the_one_kafka_chooses(group: str, partition: int) -> None:
    assert partition_of(group, 50) == partition
