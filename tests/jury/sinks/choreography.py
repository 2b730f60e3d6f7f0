"""The play in which every mistake of a sink is seen: one Spark job, killed at one moment.

    first life     batch 0 is written; in batch 1 the job stands still at the program's moment
    ── SIGKILL by onceproof, a new start ──
    second life    batch 1 is replayed, and everything after it written

A program here imports the real sink and replaces one function of it; called with `honest` it
replaces none, and the play is the same. Small lanes are written by the driver, so a function that
is replaced in this process is replaced everywhere.

How far the job is, it tells only from its moment on: a kill at 10% finds it there, however slow the
machine is.
"""

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NoReturn

from confluent_kafka import Consumer, TopicPartition

from onceproof.sink import writing
from onceproof.sink.driver_lanes import DriverLanes
from onceproof.sink.reports import LaneReport
from onceproof.sink.work import Work
from onceproof.suspects.position import checkpoint_position
from onceproof.suspects.spark import job

BATCH = 1
ASK_S = 0.2
AWAIT_S_MAX = 120.0
CANNOT_BE_STAGED = 75

Complete = Callable[[list[LaneReport]], object]  # writes the lanes of these reports
Play = Callable[[Complete, list[LaneReport], Work], object]


def setting(name: str) -> str:
    return os.environ[f"ONCEPROOF_{name}"]


def note(name: str) -> Path:
    """A file: how the lives of a job, and what outlives it, tell each other how far they are."""
    return Path(setting("STATE_DIR")) / name


HONEST = "honest" in sys.argv[1:]
IS_FIRST_LIFE = not note("stood-still").exists()


def is_the_moment(work: Work) -> bool:
    return IS_FIRST_LIFE and work.batch == BATCH


def stand_still() -> NoReturn:
    """Until killed."""
    note("stood-still").touch()
    while True:
        time.sleep(ASK_S)


def give_up(why: str) -> NoReturn:
    """The play cannot be staged in this run; in another it can."""
    sys.stderr.write(f"{why}\n")
    sys.stderr.flush()
    os._exit(CANNOT_BE_STAGED)


def before_lanes_are_written(play: Play) -> None:
    """Where the first life, with the rows of batch 1 at hand, does something else with them."""
    real = DriverLanes.complete

    def complete(
        lanes: DriverLanes, reports: list[LaneReport], lane_of: Mapping[int, int], work: Work
    ) -> list[LaneReport]:
        if is_the_moment(work):
            play(lambda some: real(lanes, some, lane_of, work), reports, work)
            stand_still()
        return real(lanes, reports, lane_of, work)

    DriverLanes.complete = complete


def do_not_look_where_the_entry_lies() -> None:
    """The sink's second look at the ledger, which would refuse what a wrong first one led to."""
    writing.require_end = lambda _settings, _partition, _end: None


def await_note(name: str) -> str:
    """What stands in it."""
    await_that(note(name).exists, f"nobody wrote the note {name}")
    return note(name).read_text()


def await_that(condition: Callable[[], bool], otherwise: str) -> None:
    give_up_at = time.monotonic() + AWAIT_S_MAX
    while not condition():
        if time.monotonic() > give_up_at:
            raise TimeoutError(f"{otherwise} within {AWAIT_S_MAX:.0f} s")
        time.sleep(ASK_S / 4)


def run() -> NoReturn:
    """Spark with the sink as it is now, until SIGTERM."""
    position = Position()
    position.await_input(int(json.loads(setting("SETTINGS"))["records_awaited"]))
    threading.Thread(target=position.tell, daemon=True).start()
    sys.argv[1:] = ["exactly_once"]
    sys.exit(job.main())


class Position:
    """Told as the contract of a command has it: by the offsets of a consumer group."""

    def __init__(self) -> None:
        self._topic = setting("INPUT_TOPIC")
        self._group = Consumer(
            {
                "bootstrap.servers": setting("BOOTSTRAP_SERVERS"),
                "group.id": setting("APP_ID"),
                "enable.auto.commit": False,
            }
        )

    def await_input(self, records: int) -> None:
        """Batches are the same in every run if the whole input is there before the first."""
        await_that(lambda: self._fed() >= records, f"{records} records were not fed")

    def _fed(self) -> int:
        places = [TopicPartition(self._topic, number) for number in self._partitions()]
        return sum(self._group.get_watermark_offsets(place)[1] for place in places)

    def _partitions(self) -> list[int]:
        return list(self._group.list_topics(self._topic).topics[self._topic].partitions)

    def tell(self) -> None:
        # Not even known, it would be guessed from the output.
        if IS_FIRST_LIFE:
            self._commit(dict.fromkeys(self._partitions(), 0))
        while True:
            time.sleep(ASK_S)
            position = checkpoint_position(note("checkpoint"), self._topic)
            if position is not None and note("stood-still").exists():
                self._commit(position)

    def _commit(self, position: dict[int, int]) -> None:
        places = [TopicPartition(self._topic, *each) for each in position.items()]
        self._group.commit(offsets=places, asynchronous=False)
