"""Both ways to produce, on a real broker: the same records arrive, the same failures are told."""

import random
import resource
from typing import Any

import pyarrow
import pytest
from committed import committed

from onceproof.cluster import topics
from onceproof.cluster.local import LocalCluster
from onceproof.deadline import Deadline, pause
from onceproof.sink.errors import LaneError, RefusedError
from onceproof.sink.producing.transaction import Record, open_transaction

PARTITIONS = 3
SCHEMA = pyarrow.schema(
    [
        ("topic", pyarrow.string()),
        ("partition", pyarrow.int32()),
        ("key", pyarrow.binary()),
        ("value", pyarrow.binary()),
        (
            "headers",
            pyarrow.list_(pyarrow.struct([("key", pyarrow.string()), ("value", pyarrow.binary())])),
        ),
    ]
)


@pytest.fixture
def topic(cluster: LocalCluster, request: pytest.FixtureRequest) -> str:
    name = f"out-{abs(hash(request.node.name))}"
    topics.create_topic(cluster.client(), name, partitions=PARTITIONS)
    return name


def configuration(cluster: LocalCluster, **changes: str) -> dict[str, str]:
    return {
        "bootstrap.servers": cluster.bootstrap("suspects"),
        "transactional.id": "t",
        "partitioner": "murmur2_random",
        "topic.metadata.propagation.max.ms": "1000",
        **changes,
    }


def visible(cluster: LocalCluster, topic: str) -> list[tuple[Any, ...]]:
    """Each partition's records in order, as a plain read_committed consumer sees them."""
    return [
        (each.partition(), each.key(), each.value(), each.headers())
        for each in committed(cluster, topic)
    ]


def random_rows(rng: random.Random, count: int, *, with_headers: bool) -> list[dict[str, Any]]:
    def content() -> bytes | None:
        return rng.choice([None, b"", rng.randbytes(rng.randint(1, 300))])

    def headers() -> list[dict[str, Any]] | None:
        names = rng.choices(["a", "b", "ü"], k=rng.randint(0, 3))
        return [{"key": name, "value": content()} for name in names] or None

    return [
        {
            "topic": None,
            "partition": rng.randrange(PARTITIONS),
            "key": content(),
            "value": content(),
            "headers": headers() if with_headers else None,
        }
        for _ in range(count)
    ]


@pytest.mark.parametrize("fast", [True, False], ids=["native", "plain"])
def test_whatever_rows_hold_arrives_byte_for_byte_and_in_order(
    cluster: LocalCluster, topic: str, fast: bool
) -> None:
    rng = random.Random(7)
    chunks = [random_rows(rng, rng.randint(0, 40), with_headers=n % 3 == 2) for n in range(30)]
    transaction = open_transaction(configuration(cluster), fast=fast)
    transaction.begin()
    for chunk in chunks:
        rows = pyarrow.RecordBatch.from_pylist(chunk, schema=SCHEMA)
        cut = rng.randint(0, len(chunk))  # slices have offsets into shared buffers
        transaction.produce_rows(rows.slice(0, cut), topic)
        transaction.produce_rows(rows.slice(cut), topic)
    transaction.commit()
    transaction.close()
    expected = [
        (
            row["partition"],
            row["key"],
            row["value"],
            [(h["key"], h["value"]) for h in row["headers"]] if row["headers"] else None,
        )
        for chunk in chunks
        for row in chunk
    ]
    assert visible(cluster, topic) == sorted(expected, key=lambda record: record[0])


def test_both_ways_put_a_key_where_javas_partitioner_puts_it(
    cluster: LocalCluster, topic: str
) -> None:
    keys = [f"key-{n}".encode() for n in range(50)]
    places = []
    for fast in (True, False):
        transaction = open_transaction(configuration(cluster), fast=fast)
        transaction.begin()
        column = pyarrow.array(keys, pyarrow.binary())
        rows = pyarrow.RecordBatch.from_arrays([column, column], ["key", "value"])
        transaction.produce_rows(rows, topic)
        transaction.commit()
        transaction.close()
    for partition, key, _, _ in visible(cluster, topic):
        places.append((key, partition))
    assert sorted(places) == sorted((key, murmur2(key) % PARTITIONS) for key in keys * 2)


def murmur2(data: bytes) -> int:
    """Java's: Utils.toPositive(Utils.murmur2(data)), from the published algorithm."""
    mask, m = 0xFFFFFFFF, 0x5BD1E995
    h = 0x9747B28C ^ len(data)
    whole = len(data) // 4 * 4
    for start in range(0, whole, 4):
        k = int.from_bytes(data[start : start + 4], "little") * m & mask
        h = (h * m & mask) ^ ((k ^ k >> 24) * m & mask)
    rest = data[whole:]
    if rest:
        h = (h ^ int.from_bytes(rest, "little")) * m & mask
    h = (h ^ h >> 13) * m & mask
    return (h ^ h >> 15) & 0x7FFFFFFF


@pytest.mark.parametrize("fast", [True, False], ids=["native", "plain"])
@pytest.mark.parametrize(
    ("record", "message"),
    [
        (Record(topic="", value=b"x" * 2_000_000), "kafka.max.request.size"),
        (Record(topic="", value=b"x", partition=17), "names one that the topic does not have"),
        (Record(topic="no-such-topic", value=b"x"), "create the topic"),
    ],
    ids=["too large", "no such partition", "no such topic"],
)
def test_what_the_brokers_will_never_take_is_refused_with_the_way_out(
    cluster: LocalCluster, topic: str, fast: bool, record: Record, message: str
) -> None:
    transaction = open_transaction(configuration(cluster), fast=fast)
    transaction.begin()
    named = Record(topic=record.topic or topic, value=record.value, partition=record.partition)
    with pytest.raises(RefusedError, match=message):
        produce_and_commit(transaction, named)
    transaction.abandon()
    assert visible(cluster, topic) == []


def produce_and_commit(transaction: Any, record: Record) -> None:
    transaction.produce_record(record)
    transaction.commit()


@pytest.mark.parametrize("in_rows", [True, False], ids=["rows", "records"])
@pytest.mark.parametrize("fast", [True, False], ids=["native", "plain"])
def test_what_a_broker_refuses_while_more_is_produced_is_told_by_its_own_error(
    cluster: LocalCluster, fast: bool, in_rows: bool
) -> None:
    """From then on librdkafka takes nothing more, and says only that it does not."""
    topic = f"small-{fast}-{in_rows}"
    limit = {"max.message.bytes": "1000"}  # the client does not know of it
    topics.create_topic(cluster.client(), topic, partitions=1, config=limit)
    transaction = open_transaction(configuration(cluster), fast=fast)
    transaction.begin()
    transaction.produce_record(Record(topic=topic, value=b"x" * 5_000))
    rows = pyarrow.RecordBatch.from_pylist([{"value": b"x"}])

    def go_on() -> None:
        deadline = Deadline(20)
        while not deadline.expired():
            if in_rows:
                transaction.produce_rows(rows, topic)
            else:
                transaction.produce_record(Record(topic=topic, value=b"x"))
            pause(0.02)

    with pytest.raises(RefusedError, match=r"max\.message\.bytes of the topic"):
        go_on()
    transaction.abandon()


@pytest.mark.parametrize("fast", [True, False], ids=["native", "plain"])
def test_who_was_fenced_cannot_commit(cluster: LocalCluster, topic: str, fast: bool) -> None:
    first = open_transaction(configuration(cluster), fast=fast)
    first.begin()
    first.produce_record(Record(topic=topic, value=b"zombie"))
    second = open_transaction(configuration(cluster), fast=fast)
    with pytest.raises(LaneError):
        first.commit()
    first.abandon()
    second.begin()
    second.produce_record(Record(topic=topic, value=b"successor"))
    second.commit()
    assert [record[2] for record in visible(cluster, topic)] == [b"successor"]


def test_a_full_queue_makes_it_wait_and_nothing_is_left_out(
    cluster: LocalCluster, topic: str
) -> None:
    transaction = open_transaction(
        configuration(cluster, **{"queue.buffering.max.messages": "100"}), fast=True
    )
    transaction.begin()
    values = [str(n).encode() for n in range(5_000)]
    rows = pyarrow.RecordBatch.from_arrays(
        [
            pyarrow.array([0] * len(values), pyarrow.int32()),
            pyarrow.array(values, pyarrow.binary()),
        ],
        ["partition", "value"],
    )
    transaction.produce_rows(rows, topic)
    transaction.commit()
    transaction.close()
    assert [record[2] for record in visible(cluster, topic)] == values


def test_transactions_leave_no_memory_behind(cluster: LocalCluster, topic: str) -> None:
    """Twenty times 10 MB; a leak of the messages or of the producers would show as 100 MB."""
    values = pyarrow.array([b"x" * 1000] * 10_000, pyarrow.binary())
    rows = pyarrow.RecordBatch.from_arrays([values], ["value"])
    peaks = []
    for _ in range(20):
        transaction = open_transaction(configuration(cluster), fast=True)
        transaction.begin()
        transaction.produce_rows(rows, topic)
        transaction.commit()
        transaction.close()
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    assert peaks[-1] - peaks[4] < 60_000, peaks
