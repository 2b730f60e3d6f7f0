"""From a fault until the suspect's position goes on."""

from onceproof.history.event import Event
from onceproof.history.fault_record import FaultRecord
from onceproof.history.recovery import recoveries_s, recovery_s
from onceproof.report.wording import fault_told


def progress(at_s: float, position: int, remaining: int = 9) -> Event:
    detail = {"position": str(position), "remaining": str(remaining)}
    return Event(at_s=at_s, kind="progress", detail=detail)


def fault(at_s: float, *, applied: bool = True) -> Event:
    return Event(at_s=at_s, kind="fault", detail={"applied": "true" if applied else "false"})


# 110 was reached before the fault, after the last sample.
EVENTS = [progress(1.0, 100), fault(2.0), progress(2.5, 110), progress(6.5, 120)]


def test_recovery_is_until_the_position_goes_beyond_where_it_stood() -> None:
    assert recovery_s(EVENTS) == 4.5
    assert recovery_s(EVENTS[:3]) is None
    assert recovery_s([progress(1.0, 100), progress(2.0, 120)]) is None


def test_while_brokers_are_gone_nobody_can_look_and_the_last_sample_before_counts() -> None:
    events = [progress(1.0, 100), fault(2.0), progress(16.0, 300, remaining=0)]
    assert recovery_s(events) == 14.0


def test_what_brokers_end_for_the_dead_is_not_recovery() -> None:
    died = Event(at_s=8.0, kind="exited", subject="instance 0", detail={"asked": "false"})
    assert recovery_s([progress(1.0, 100), fault(2.0), died, progress(16.0, 110)]) is None


def test_each_fault_has_its_own_and_one_that_did_not_apply_has_none() -> None:
    later = [fault(7.0, applied=False), fault(8.0), progress(8.5, 120), progress(9.0, 130)]
    assert recoveries_s([*EVENTS, *later]) == [4.5, None, 1.0]


def test_who_has_nothing_to_do_does_not_recover() -> None:
    idle = [fault(2.0), progress(2.5, 110, remaining=0), progress(30.0, 120)]
    assert recoveries_s(idle) == [None]


def test_a_report_says_how_long_it_took() -> None:
    plain = FaultRecord(action="kill", target="broker 1", at_s=2.0, applied=True, evidence="gone")
    assert fault_told(plain) == "gone"
    timed = FaultRecord.from_json({**plain.to_json(), "recovery_s": 4.5})
    assert fault_told(timed) == "gone; work went on after 4.5 s"
