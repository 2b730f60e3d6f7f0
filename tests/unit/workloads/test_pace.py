"""Which slice is due by the clock: the pace is kept on the average, and nothing comes twice."""

from hypothesis import given
from hypothesis import strategies as st

from onceproof.workloads.pace import Pace, PacedSlices


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def test_a_burst_is_one_slice() -> None:
    slices = PacedSlices(10, 90, None, Clock())
    assert slices.next_slice() == (10, 90)
    assert slices.next_slice() is None
    assert slices.wait_s() == 0.0
    assert slices.written == 80


def test_a_second_is_handed_out_at_a_time_and_a_late_tick_is_caught_up_with() -> None:
    clock = Clock()
    slices = PacedSlices(0, 1_000, Pace(100.0), clock)
    assert slices.next_slice() == (0, 100)
    assert slices.wait_s() == 1.0
    clock.now_s = 1.25
    assert slices.next_slice() == (100, 200)
    assert slices.wait_s() == 0.75
    clock.now_s = 4.0
    assert slices.next_slice() == (200, 500)
    assert slices.written == 500


def test_a_pace_below_one_a_second_hands_out_empty_slices_in_between() -> None:
    clock = Clock()
    slices = PacedSlices(0, 2, Pace(0.5), clock)
    handed = []
    for second in range(6):
        clock.now_s = float(second)
        handed.append(slices.next_slice())
    assert handed == [(0, 0), (0, 1), (1, 1), (1, 2), None, None]


def test_a_burst_comes_on_top_each_time_its_period_is_over() -> None:
    pace = Pace(10.0, burst_records=300, burst_every_s=20.0)
    assert [pace.due(second) for second in (1, 19, 20, 39, 40)] == [10, 190, 500, 690, 1_000]
    assert pace.seconds_for(1_000) == 40.0


@given(
    records=st.integers(0, 500),
    pace=st.builds(Pace, st.floats(0.1, 300.0), st.integers(0, 90), st.floats(1.0, 9.0)),
    steps=st.lists(st.floats(0.0, 5.0), max_size=50),
)
def test_slices_follow_one_another_without_gap_and_never_run_ahead(
    records: int, pace: Pace, steps: list[float]
) -> None:
    clock = Clock()
    slices = PacedSlices(7, 7 + records, pace, clock)
    reached = 7
    for step in steps:
        piece = slices.next_slice()
        if piece is not None:
            assert piece[0] == reached
            reached = piece[1]
        assert reached - 7 == slices.written <= min(records, pace.due(int(clock.now_s) + 1))
        clock.now_s += step
