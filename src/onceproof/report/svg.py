"""The time line as one SVG: curves above, lanes below, each fault a numbered mark through both.

    records │      ╭───────            curves
            │   ╭──╯
    faults  ┼──①─────②───────          marks
    phase   │start│feed │drain         lanes
    broker 2│█████▒▒▒▒████
            └────────────────▶ s       axis

Colours are CSS classes of page.css, so that light, dark and print need no second drawing.
"""

import math
from collections.abc import Iterator
from html import escape

from onceproof.report.timeline import Curve, Lane, Mark, Span, Timeline

WIDTH = 1100
LEFT = 118
RIGHT = WIDTH - 16
CURVES_TOP = 14
CURVES_HEIGHT = 190
MARKS_HEIGHT = 34
LANE_HEIGHT = 26
BAR_HEIGHT = 16
AXIS_HEIGHT = 26
LETTER_WIDTH = 6.6
MARK_RADIUS = 8
TICKS_ABOUT = 10
MARKS_DENSE = 30


def draw_timeline(timeline: Timeline) -> str:
    picture = Picture(timeline)
    parts = [*picture.curves(), *picture.lanes(), *picture.axis(), *picture.marks()]
    dense = " dense" if len(timeline.marks) > MARKS_DENSE else ""
    return (
        f'<svg class="timeline{dense}" viewBox="0 0 {WIDTH} {picture.height}" role="img" '
        'aria-label="time line of the run">\n' + "\n".join(parts) + "\n</svg>"
    )


class Picture:
    """Where everything goes, and the parts drawn there."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._marks_top = CURVES_TOP + CURVES_HEIGHT if timeline.curves else 0
        self._lanes_top = self._marks_top + (MARKS_HEIGHT if timeline.marks else 12)
        self._axis_top = self._lanes_top + LANE_HEIGHT * len(timeline.lanes)
        self.height = self._axis_top + AXIS_HEIGHT

    def _x(self, at_s: float) -> float:
        share = min(max(at_s / self._timeline.end_s, 0.0), 1.0)
        return round(LEFT + share * (RIGHT - LEFT), 1)

    def curves(self) -> Iterator[str]:
        highest = max(
            (count for curve in self._timeline.curves for _, count in curve.points), default=0
        )
        if not self._timeline.curves:
            return
        scale = _round_up(max(highest, 1))
        bottom = CURVES_TOP + CURVES_HEIGHT
        for quarter in range(5):
            y = bottom - (CURVES_HEIGHT - 12) * quarter / 4
            yield _line(LEFT, y, RIGHT, y, "grid")
            yield _text(LEFT - 8, y + 4, f"{scale * quarter // 4:,}", "tick end")
        for curve in self._timeline.curves:
            yield self._curve(curve, scale, bottom)

    def _curve(self, curve: Curve, scale: int, bottom: float) -> str:
        points = " ".join(
            f"{self._x(at_s)},{bottom - (CURVES_HEIGHT - 12) * count / scale:.1f}"
            for at_s, count in curve.points
        )
        return f'<polyline class="curve {curve.name}" points="{points}"/>'

    def lanes(self) -> Iterator[str]:
        for place, lane in enumerate(self._timeline.lanes):
            top = self._lanes_top + LANE_HEIGHT * place
            middle = top + LANE_HEIGHT / 2
            yield _text(LEFT - 8, middle + 4, _clipped(lane.name, LEFT - 12), "lane end")
            yield _line(LEFT, middle, RIGHT, middle, "track")
            yield from self._bars(lane, top + (LANE_HEIGHT - BAR_HEIGHT) / 2)

    def _bars(self, lane: Lane, y: float) -> Iterator[str]:
        for place, span in enumerate(lane.spans):
            x = self._x(span.from_s)
            width = max(self._x(span.to_s) - x, 2.0)
            shade = " odd" if place % 2 else ""
            yield (
                f'<rect class="bar {span.state}{shade}" x="{x}" y="{y}" width="{width:.1f}" '
                f'height="{BAR_HEIGHT}" rx="2">{_tooltip(lane, span)}</rect>'
            )
            label = _clipped(span.label, width - 6)
            if label:
                yield _text(x + 5, y + BAR_HEIGHT - 4, label, f"label {span.state}")

    def axis(self) -> Iterator[str]:
        yield _line(LEFT, self._axis_top, RIGHT, self._axis_top, "axis")
        step = _tick_step(self._timeline.end_s)
        for place in range(int(self._timeline.end_s / step) + 1):
            x = self._x(place * step)
            yield _line(x, self._axis_top, x, self._axis_top + 4, "axis")
            yield _text(x, self._axis_top + 17, f"{place * step:g} s", "tick middle")

    def marks(self) -> Iterator[str]:
        """A number is left out where it would stand on the one before it; its line stays."""
        if not self._timeline.marks:
            return
        y = self._marks_top + MARKS_HEIGHT / 2
        yield _text(LEFT - 8, y + 4, "faults", "lane end")
        taken_until = -math.inf
        for mark in sorted(self._timeline.marks, key=lambda mark: mark.at_s):
            x = self._x(mark.at_s)
            kind = "applied" if mark.applied else "missed"
            yield _line(
                x, CURVES_TOP if self._timeline.curves else y, x, self._foot(mark), f"mark {kind}"
            )
            if x - taken_until >= 2 * MARK_RADIUS:
                yield self._numbered(mark, x, y, kind)
                taken_until = x

    def _numbered(self, mark: Mark, x: float, y: float, kind: str) -> str:
        outcome = "" if mark.applied else ", did not apply"
        title = escape(f"{mark.number}. {mark.label} at {mark.at_s:.1f} s{outcome}")
        width = " long" if mark.number > 99 else ""
        number = _text(x, y + 3.5, str(mark.number), f"number middle {kind}{width}")
        return (
            f'<g><circle class="mark {kind}" cx="{x}" cy="{y}" r="{MARK_RADIUS}"/>'
            f"{number}<title>{title}</title></g>"
        )

    def _foot(self, mark: Mark) -> float:
        """A mark's line ends in the lane of what it hit."""
        names = [lane.name for lane in self._timeline.lanes]
        if mark.lane not in names:
            return self._lanes_top
        return self._lanes_top + LANE_HEIGHT * names.index(mark.lane) + LANE_HEIGHT / 2


def _tooltip(lane: Lane, span: Span) -> str:
    words = f"{lane.name}: {span.label or span.state}, {span.from_s:.1f} s to {span.to_s:.1f} s"
    return f"<title>{escape(words)}</title>"


def _line(x1: float, y1: float, x2: float, y2: float, classes: str) -> str:
    return f'<line class="{classes}" x1="{x1}" y1="{y1:.1f}" x2="{x2}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, words: str, classes: str) -> str:
    return f'<text class="{classes}" x="{x}" y="{y:.1f}">{escape(words)}</text>'


def _clipped(words: str, width: float) -> str:
    """As much of it as fits; nothing where not even three letters would."""
    letters = int(width / LETTER_WIDTH)
    if len(words) <= letters:
        return words
    return words[: letters - 1] + "…" if letters > 3 else ""


def _round_up(value: int) -> int:
    """The next number that four grid lines divide well: 4, 8, 12, 20, 28, 40, 80, …"""
    tens = 1
    while value > 28 * tens:
        tens *= 10
    return next(factor * tens for factor in (4, 8, 12, 20, 28) if factor * tens >= value)


def _tick_step(end_s: float) -> float:
    for step in (0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600):
        if end_s / step <= TICKS_ABOUT:
            return step
    return end_s / TICKS_ABOUT
