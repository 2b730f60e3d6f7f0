from made_up_runs import held

from onceproof.history.event import Event
from onceproof.history.fault_record import FaultRecord
from onceproof.history.verdict import TrialResult, Verdict
from onceproof.report.timeline import CURVE_POINTS_MAX, Lane, Span, build_timeline


def result(*faults: FaultRecord, duration_s: float = 20.0) -> TrialResult:
    return TrialResult(
        scenario="s",
        suspect="x",
        workload="copy",
        seed=1,
        verdict=Verdict.HELD,
        faults=faults,
        duration_s=duration_s,
    )


def started(at_s: float, subject: str = "instance 0") -> Event:
    return Event(at_s=at_s, kind="started", subject=subject)


def exited(at_s: float, asked: str) -> Event:
    return Event(at_s=at_s, kind="exited", subject="instance 0", detail={"asked": asked})


def test_each_phase_lasts_until_the_next_and_the_last_until_the_end() -> None:
    phases = [Event(at_s=at_s, kind="phase", subject=name) for at_s, name in ((0, "a"), (5, "b"))]
    assert build_timeline(result(), phases).lanes == (
        Lane(
            name="phase",
            spans=(
                Span(from_s=0, to_s=5, state="phase", label="a"),
                Span(from_s=5, to_s=20, state="phase", label="b"),
            ),
        ),
    )


def test_an_instance_killed_by_a_fault_is_down_until_it_healed_and_up_otherwise() -> None:
    kill = FaultRecord(action="kill", target="instance 0", at_s=4, applied=True, healed_at_s=7)
    events = [started(1), exited(4, asked="true"), started(6.5)]
    (lane,) = build_timeline(result(kill), events).lanes
    assert lane.spans == (
        Span(from_s=1, to_s=4, state="up"),
        Span(from_s=6.5, to_s=20, state="up"),
        Span(from_s=4, to_s=7, state="down", label="kill"),
    )


def test_an_instance_that_ended_by_itself_is_shown_as_died() -> None:
    (lane,) = build_timeline(result(), [started(1), exited(4, asked="false")]).lanes
    assert lane.spans[-1] == Span(from_s=4, to_s=20, state="down", label="died")


def test_a_fault_that_did_not_apply_has_a_mark_but_is_never_in_force() -> None:
    missed = FaultRecord(action="kill", target="broker 2 (controller)", at_s=4, applied=False)
    timeline = build_timeline(result(missed), [])
    assert [span.state for span in timeline.lanes[0].spans] == ["up"]
    assert [(mark.number, mark.lane, mark.applied) for mark in timeline.marks] == [
        (1, "broker 2", False)
    ]


def test_a_fault_nobody_healed_is_in_force_until_its_target_starts_again() -> None:
    kill = FaultRecord(action="kill", target="broker 1", at_s=4, applied=True)
    timeline = build_timeline(result(kill), [started(2, "broker 1"), started(9, "broker 1")])
    assert timeline.lanes[0].spans[-1] == Span(from_s=4, to_s=9, state="down", label="kill")


def test_instances_come_before_brokers_and_ten_after_nine() -> None:
    names = ["broker 1", "instance 10", "link a", "instance 9"]
    lanes = build_timeline(result(), [started(1, name) for name in names]).lanes
    assert [lane.name for lane in lanes] == ["instance 9", "instance 10", "broker 1", "link a"]


def test_a_long_run_is_thinned_but_keeps_its_last_sample() -> None:
    samples = [
        Event(at_s=at_s, kind="progress", detail={"input": str(at_s)}) for at_s in range(10_000)
    ]
    (curve,) = build_timeline(result(), samples).curves
    assert len(curve.points) <= CURVE_POINTS_MAX + 1
    assert curve.points[-1] == (9_999, 9_999)


def test_a_sample_that_is_no_number_is_left_out_of_its_curve() -> None:
    samples = [
        Event(at_s=1, kind="progress", detail={"input": "7", "output": "unknown"}),
        Event(at_s=2, kind="progress", detail={}),
    ]
    assert [curve.points for curve in build_timeline(result(), samples).curves] == [((1, 7),)]


def test_the_chaos_loop_has_a_lane_for_everything_that_was_hit() -> None:
    made = held()
    names = [lane.name for lane in build_timeline(made.result, made.events).lanes]
    instances, brokers = ["instance 0", "instance 1"], ["broker 1", "broker 2", "broker 3"]
    assert names == ["phase", "iteration", *instances, *brokers]
