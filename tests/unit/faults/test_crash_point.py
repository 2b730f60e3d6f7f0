"""The grid of crash points: each cell is a schedule that can be carried out."""

import pytest

from onceproof.errors import UsageError
from onceproof.faults.crash_point import FRAMES, Act, CrashPoint, FrameKind, crash_points
from onceproof.faults.schedule import Step, parse_schedule
from onceproof.faults.wire_aim import Release, WireAim


def step_of(point: CrashPoint) -> tuple[Step, WireAim]:
    (step,) = parse_schedule([point.fault(transaction_timeout_s=10.0)])
    assert isinstance(step.aim, WireAim)
    return step, step.aim


def frame(name: str) -> FrameKind:
    return next(each for each in FRAMES if each.name == name)


def test_every_cell_has_a_name_of_its_own_and_is_a_schedule() -> None:
    cells = crash_points()
    assert len({cell.name for cell in cells}) == len(cells) == 16 * 7
    for cell in cells:
        step, _ = step_of(cell)
        assert step.needs_wire
        assert crash_points(cell.name) == [cell]


def test_a_late_request_outlives_its_sender() -> None:
    step, aim = step_of(CrashPoint(frame=frame("EndTxn"), side="request", act=Act.LATE))
    assert (step.actions, aim.release) == (("kill",), Release.LATE)


def test_a_kill_takes_the_frame_along() -> None:
    step, aim = step_of(CrashPoint(frame=frame("EndTxn"), side="response", act=Act.KILL))
    assert (step.actions, aim.release, aim.direction) == (("kill",), Release.DROP, "response")


def test_a_pause_lasts_longer_than_a_transaction_may() -> None:
    step, aim = step_of(CrashPoint(frame=frame("LedgerFetch"), side="response", act=Act.PAUSE))
    assert (step.actions, step.heal_after_s > 10.0, aim.topic) == (("pause",), True, "*.ledger")


def test_what_is_sent_at_a_start_only_is_waited_for_at_a_start() -> None:
    at_start, _ = step_of(CrashPoint(frame=frame("JoinGroup"), side="request", act=Act.KILL))
    later, _ = step_of(CrashPoint(frame=frame("Produce"), side="request", act=Act.KILL))
    assert (at_start.restart_first, later.restart_first) == (True, False)


def test_between_brokers_the_sender_is_a_broker() -> None:
    step, aim = step_of(CrashPoint(frame=frame("WriteTxnMarkers"), side="request", act=Act.KILL))
    assert step.hits_brokers
    assert step.needs_wire_between_brokers
    assert aim.api == "WriteTxnMarkers"


def test_one_frame_can_be_asked_for() -> None:
    assert {cell.frame.name for cell in crash_points("EndTxn")} == {"EndTxn"}
    assert {cell.frame.name for cell in crash_points("Fetch")} == {"Fetch"}
    with pytest.raises(UsageError, match="unknown crash point 'EndTx'"):
        crash_points("EndTx")


def test_a_request_of_a_paused_one_arrives_when_its_time_is_over() -> None:
    _, request = step_of(CrashPoint(frame=frame("EndTxn"), side="request", act=Act.PAUSE))
    _, response = step_of(CrashPoint(frame=frame("EndTxn"), side="response", act=Act.PAUSE))
    assert (request.release, response.release) == (Release.LATE, Release.PASS)
