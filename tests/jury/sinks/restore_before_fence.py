"""duplicated: reads a lane's token first, and fences the predecessor after that.

A task of the killed driver is still there (afterlife.py), and commits its lane between the two.
"""

import pickle

import choreography
from afterlife import outlive
from choreography import Complete, await_note, note

from onceproof.sink import driver_lanes, lane
from onceproof.sink.lane import OpenLane
from onceproof.sink.ledger.entries import lane_partition
from onceproof.sink.ledger.reader import LastWord
from onceproof.sink.producing.transaction import open_transaction
from onceproof.sink.reports import LaneReport
from onceproof.sink.settings import Settings
from onceproof.sink.work import Work

real_last_word = lane.last_word


def leave_the_lane_to_a_task(_complete: Complete, reports: list[LaneReport], work: Work) -> None:
    outlive(pickle.dumps((reports[0], work)))


def restore_then_fence(settings: Settings, number: int) -> OpenLane:
    found = real_last_word(settings, lane_partition(number))
    let_the_task_commit(expected="committed")
    transaction = open_transaction(
        settings.producer(settings.lane_transactional_id(number)), fast=settings.fast
    )
    return OpenLane(
        lane=number,
        transaction=transaction,
        entry=found.entry,
        end=found.end,
        fence_ms=0.0,
        read_ms=0.0,
    )


def last_word_after_the_fence(settings: Settings, partition: int, **how: bool) -> LastWord:
    let_the_task_commit(expected="refused")
    return real_last_word(settings, partition, **how)


def let_the_task_commit(*, expected: str) -> None:
    """It has its chance here, between the two steps of opening a lane, in either order."""
    note("task-may-commit").touch()
    outcome = await_note("task-outcome")
    if outcome != expected:
        raise RuntimeError(f"the task that outlived its driver was {outcome}, not {expected}")


if __name__ == "__main__":
    choreography.before_lanes_are_written(leave_the_lane_to_a_task)
    if not choreography.IS_FIRST_LIFE and choreography.HONEST:
        lane.last_word = last_word_after_the_fence
    elif not choreography.IS_FIRST_LIFE:
        driver_lanes.open_lane = restore_then_fence
        choreography.do_not_look_where_the_entry_lies()
    choreography.run()
