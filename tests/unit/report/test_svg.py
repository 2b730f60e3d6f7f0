import pytest

from onceproof.report.svg import _clipped, _round_up, _tick_step, draw_timeline
from onceproof.report.timeline import Mark, Timeline


@pytest.mark.parametrize(
    ("highest", "scale"), [(1, 4), (4, 4), (5, 8), (27, 28), (29, 40), (6400, 8000), (8001, 12_000)]
)
def test_the_scale_is_the_next_number_that_four_grid_lines_divide(highest: int, scale: int) -> None:
    assert _round_up(highest) == scale


@pytest.mark.parametrize("end_s", [1.0, 7.3, 104.0, 1225.0, 7200.0, 200_000.0])
def test_the_axis_has_a_readable_number_of_ticks(end_s: float) -> None:
    assert 2 <= end_s / _tick_step(end_s) <= 10


def test_a_label_is_cut_where_it_does_not_fit_and_left_out_where_it_would_say_nothing() -> None:
    assert [_clipped("pause", width) for width in (40, 30, 10)] == ["pause", "pau…", ""]


def test_numbers_that_would_stand_on_each_other_are_left_out_but_their_lines_stay() -> None:
    marks = tuple(
        Mark(number=rank, at_s=10 + rank / 100, lane="broker 1", label="kill", applied=True)
        for rank in range(1, 4)
    )
    svg = draw_timeline(Timeline(end_s=100, lanes=(), marks=marks, curves=()))
    assert svg.count("<circle") == 1
    assert svg.count('<line class="mark applied"') == 3
