"""The grid of crash points: each cell is a schedule that can be carried out."""

import pytest

from onceproof.errors import UsageError
from onceproof.faults.crash_point import Act, CrashPoint, crash_points, find_crash_point
from onceproof.faults.schedule import parse_schedule
from onceproof.faults.wire_aim import Release, WireAim


def test_every_cell_has_a_name_of_its_own_and_is_a_schedule() -> None:
    cells = list(crash_points())
    assert len({cell.name for cell in cells}) == len(cells) == 14 * 5
    for cell in cells:
        (step,) = parse_schedule([cell.fault(transaction_timeout_s=10.0)])
        assert isinstance(step.aim, WireAim)
        assert step.needs_wire
        assert find_crash_point(cell.name) == cell


def test_what_a_cell_does() -> None:
    late = CrashPoint(frame="EndTxn", side="request", act=Act.LATE)
    (step,) = parse_schedule([late.fault(10.0)])
    assert isinstance(step.aim, WireAim)
    assert (step.actions, step.aim.release) == (("kill",), Release.LATE)
    pause = CrashPoint(frame="Fetch on *.ledger", side="response", act=Act.PAUSE)
    (step,) = parse_schedule([pause.fault(10.0)])
    assert isinstance(step.aim, WireAim)
    assert (step.actions, step.heal_after_s, step.aim.topic) == (("pause",), 13.0, "*.ledger")


def test_one_api_can_be_asked_for() -> None:
    assert {cell.frame for cell in crash_points("EndTxn")} == {"EndTxn"}
    assert {cell.frame for cell in crash_points("Fetch")} == {"Fetch", "Fetch on *.ledger"}
    with pytest.raises(UsageError, match="unknown api of a sweep 'EndTx'"):
        list(crash_points("EndTx"))
    with pytest.raises(UsageError, match="named like EndTxn-request-kill"):
        find_crash_point("EndTxn")
