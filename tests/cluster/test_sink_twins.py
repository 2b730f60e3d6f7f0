"""Two attempts at one lane at once, as with speculation: the fenced one finds what its twin did."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pyarrow
import pytest
from committed import committed

from onceproof.cluster import topics
from onceproof.cluster.local import LocalCluster
from onceproof.sink import exactly_once_kafka
from onceproof.sink import task as task_room
from onceproof.sink.announcing import Announcer
from onceproof.sink.cut import Lanes
from onceproof.sink.errors import FencedError, LaneError
from onceproof.sink.lane import open_lane
from onceproof.sink.ledger.entries import Cut
from onceproof.sink.reports import LaneState
from onceproof.sink.task import Task, perform
from onceproof.sink.work import Work

QUERY = "q-1"
BATCHES = 3
ROWS_A_BATCH = 10


def batches(then: Callable[[], object] = lambda: None) -> Iterator[pyarrow.RecordBatch]:
    """The rows of a lane; what happens in between, when half of them are written."""
    for number in range(BATCHES):
        if number == BATCHES - 1:
            then()
        values = [f"{number}-{row}".encode() for row in range(ROWS_A_BATCH)]
        yield pyarrow.RecordBatch.from_pylist(
            [{"value": value, "__hash": hash(value)} for value in values]
        )


@dataclass(frozen=True, kw_only=True)
class Bench:
    cluster: LocalCluster
    topic: str
    task: Task

    def visible(self) -> int:
        return len(committed(self.cluster, self.topic))

    def write(self) -> str:
        return perform(self.task, 0, batches()).state


@pytest.fixture(params=[True, False], ids=["fast", "plain"])
def bench(
    cluster: LocalCluster, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Bench:
    # Rows are not read ahead while the lane is opened: half of them are written, then.
    monkeypatch.setattr(task_room, "HELD_BYTES_MAX", 0)
    topic = f"out-{abs(hash(request.node.name))}"
    topics.create_topic(cluster.client(), topic, partitions=1)
    sink = exactly_once_kafka(
        sink_id=f"sink-{topic}",
        topic=topic,
        lanes=1,
        options={"kafka.bootstrap.servers": cluster.bootstrap("suspects")},
        small_lane_bytes=0,
        fast=request.param,
        jvm=False,
    )
    announcer: Announcer = sink._announcer
    lead = announcer.lead(QUERY, 0)
    taken = announcer.announce(lead, QUERY, 0, Lanes(cut=Cut.KEYS, count=1))
    announcer.confirm()
    announcer.let_go()
    work = Work(
        settings=taken.settings,
        query=QUERY,
        batch=0,
        announcement=taken.manifest.announcement,
    )
    return Bench(cluster=cluster, topic=topic, task=Task(work=work, lane_of={0: 0}, write=True))


def test_a_fenced_task_that_finds_its_twins_token_returns_success(bench: Bench) -> None:
    states: list[str] = []
    report = perform(bench.task, 0, batches(lambda: states.append(bench.write())))
    assert (states, report.state) == ([LaneState.COMMITTED], LaneState.ALREADY)
    assert report.rows == bench.visible() == BATCHES * ROWS_A_BATCH


def test_one_whose_twin_has_written_nothing_yet_fails_and_the_next_attempt_writes(
    bench: Bench,
) -> None:
    twins = []
    with pytest.raises(FencedError):
        perform(
            bench.task,
            0,
            batches(lambda: twins.append(open_lane(bench.task.work.settings, 0))),
        )
    assert bench.write() == LaneState.COMMITTED
    assert bench.visible() == BATCHES * ROWS_A_BATCH
    twins[0].transaction.close()


def test_one_that_another_drivers_announcement_has_overtaken_fails(bench: Bench) -> None:
    overtaken = replace(bench.task, work=replace(bench.task.work, announcement="of before"))
    with pytest.raises(LaneError, match="another driver leads this sink now"):
        perform(overtaken, 0, batches())
    assert bench.visible() == 0
