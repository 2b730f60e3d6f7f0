"""A story as lanes: time runs down, one row a step, its words beside it.

              instance 0   broker 1   faults
    13.912 s      │◀──────────│          │     Fetch brought in-0@380 to 420
    13.950 s      │──────────▶│          │     Produce of 41 records to out-0, …
    14.000 s      │◀──────────┼──────────●     fault 1: kill instance 0

Words stand beside the lanes, never on them, so that nothing can overlap. Colours are classes of
page.css.
"""

import textwrap
from collections.abc import Iterator
from html import escape

from onceproof.report.story.steps import FAULTS_LANE, Step, Story
from onceproof.report.wording import clipped

WIDTH = 1100
TIME_WIDTH = 74
LANES_LEFT = 86
LANES_WIDTH_MAX = 500
LANE_WIDTH_MAX = 112
LETTER_WIDTH = 6.5
NAME_LETTER_WIDTH = 7.2
HEAD_HEIGHT = 30
ROW_HEIGHT = 26
LINE_HEIGHT = 15
LINES_MAX = 3
HEAD = 7


def draw_story(story: Story) -> str:
    """Nothing where there are no steps."""
    if not story.steps:
        return ""
    picture = _Picture(story)
    parts = [*picture.lanes(), *picture.rows()]
    return (
        f'<svg class="lanes" viewBox="0 0 {WIDTH} {picture.height}" role="img" '
        'aria-label="what went over the wire, step by step">\n' + "\n".join(parts) + "\n</svg>"
    )


class _Picture:
    """Where everything goes, and the parts drawn there."""

    def __init__(self, story: Story) -> None:
        self._steps = story.steps
        self._names = story.lanes()
        count = len(self._names)
        self._lane_width = min(LANE_WIDTH_MAX, LANES_WIDTH_MAX / count)
        self._words_left = LANES_LEFT + self._lane_width * count + 12
        letters = int((WIDTH - self._words_left) / LETTER_WIDTH)
        self._words = [_lines(step.what, letters) for step in self._steps]
        self.height = HEAD_HEIGHT + sum(_height(lines) for lines in self._words) + 6

    def _x(self, lane: str) -> float:
        return LANES_LEFT + self._lane_width * (self._names.index(lane) + 0.5)

    def lanes(self) -> Iterator[str]:
        letters = int((self._lane_width - 6) / NAME_LETTER_WIDTH)
        for name in self._names:
            x = self._x(name)
            yield (
                f'<line class="lane" x1="{x:.1f}" y1="{HEAD_HEIGHT - 8}" x2="{x:.1f}" '
                f'y2="{self.height}"/>'
            )
            yield (
                f'<text class="name middle" x="{x:.1f}" y="14">{escape(clipped(name, letters))}'
                f"<title>{escape(name)}</title></text>"
            )

    def rows(self) -> Iterator[str]:
        top = HEAD_HEIGHT
        for step, lines in zip(self._steps, self._words, strict=True):
            yield "".join(self._row(step, lines, top))
            top += _height(lines)

    def _row(self, step: Step, lines: list[str], top: int) -> Iterator[str]:
        height = _height(lines)
        kinds = {
            "step": True,
            "fault": step.is_fault,
            "healed": _is_act(step) and not step.is_fault,
            "unsure": not step.is_sure,
        }
        whole = f"{step.what}\n{step.detail}" if step.detail else step.what
        classes = " ".join(name for name, holds in kinds.items() if holds)
        yield f'<g class="{classes}"><title>{escape(whole)}</title>'
        yield f'<rect class="row" x="0" y="{top}" width="{WIDTH}" height="{height}"/>'
        at = "" if step.at_s is None else f"{step.at_s:.3f} s"
        first = top + ROW_HEIGHT / 2
        yield f'<text class="moment end" x="{TIME_WIDTH}" y="{first + 4:.1f}">{at}</text>'
        yield from self._arrow(step, first)
        for place, line in enumerate(lines):
            y = first + 4 + LINE_HEIGHT * place
            yield f'<text class="what" x="{self._words_left:.1f}" y="{y:.1f}">{escape(line)}</text>'
        yield "</g>"

    def _arrow(self, step: Step, y: float) -> Iterator[str]:
        begin = self._x(step.lane)
        if not step.to or step.to == step.lane:
            yield f'<circle class="dot" cx="{begin:.1f}" cy="{y:.1f}" r="4.5"/>'
            return
        end = self._x(step.to)
        yield f'<line class="arrow" x1="{begin:.1f}" y1="{y:.1f}" x2="{end:.1f}" y2="{y:.1f}"/>'
        yield _head(end, y, from_x=begin)
        if step.is_answered:
            yield _head(begin, y, from_x=end)
        elif _is_act(step):
            yield f'<circle class="dot" cx="{begin:.1f}" cy="{y:.1f}" r="4.5"/>'


def _is_act(step: Step) -> bool:
    """A fault itself or its healing, as against a frame that met one."""
    return step.lane == FAULTS_LANE


def _head(x: float, y: float, *, from_x: float) -> str:
    back = x - HEAD if from_x < x else x + HEAD
    points = f"{x:.1f},{y:.1f} {back:.1f},{y - 4:.1f} {back:.1f},{y + 4:.1f}"
    return f'<polygon class="head" points="{points}"/>'


def _lines(what: str, letters: int) -> list[str]:
    """As many as fit a row; the tooltip has the whole."""
    lines = textwrap.wrap(what, width=letters, break_on_hyphens=False) or [""]
    if len(lines) <= LINES_MAX:
        return lines
    return [*lines[: LINES_MAX - 1], clipped(" ".join(lines[LINES_MAX - 1 :]), letters)]


def _height(lines: list[str]) -> int:
    return ROW_HEIGHT + LINE_HEIGHT * (len(lines) - 1)
