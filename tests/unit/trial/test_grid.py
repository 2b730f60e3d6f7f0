"""A sweep's grid: what it counts, how it resumes, and how it is told."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from onceproof.history.grid import Cell, Grid, Outcome
from onceproof.report.grid import render_grid_html, render_grid_junit, render_grid_text

NAMES = (
    "EndTxn-request-kill",
    "EndTxn-request-late",
    "EndTxn-response-kill",
    "Produce-request-kill",
)


def cell(name: str, outcome: Outcome, **more: object) -> Cell:
    frame, side, act = name.split("-")
    return Cell(frame=frame, side=side, act=act, outcome=outcome, **more)  # type: ignore[arg-type]


def grid(*outcomes: Outcome) -> Grid:
    made = Grid(suspect="suspect", workload="copy", seed=7, names=NAMES)
    for name, outcome in zip(NAMES, outcomes, strict=False):
        made = made.with_cell(cell(name, outcome))
    return made


def test_a_cell_takes_the_place_of_one_of_its_name() -> None:
    first = grid(Outcome.UNKNOWN)
    again = first.with_cell(cell(NAMES[0], Outcome.HELD, tries=2))
    assert [each.outcome for each in again.cells] == [Outcome.HELD]
    assert again.left == NAMES[1:]


def test_cells_stand_in_the_order_of_the_protocol() -> None:
    made = Grid(suspect="s", workload="copy", seed=1, names=NAMES)
    for name in reversed(NAMES):
        made = made.with_cell(cell(name, Outcome.HELD))
    assert tuple(each.name for each in made.cells) == NAMES


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        ((Outcome.HELD,) * 4, 0),
        ((Outcome.HELD, Outcome.NOT_REACHED, Outcome.HELD, Outcome.HELD), 0),
        ((Outcome.HELD, Outcome.BROKEN, Outcome.UNKNOWN, Outcome.HELD), 1),
        ((Outcome.HELD, Outcome.UNKNOWN, Outcome.HELD, Outcome.HELD), 2),
        ((Outcome.HELD,) * 3, 2),  # not finished
        ((Outcome.NOT_REACHED,) * 4, 2),  # nothing was tried
    ],
)
def test_exit_code(outcomes: tuple[Outcome, ...], code: int) -> None:
    assert grid(*outcomes).exit_code == code


def test_a_stored_grid_is_the_same_again(tmp_path: Path) -> None:
    made = grid(Outcome.HELD).with_cell(
        cell(NAMES[1], Outcome.BROKEN, anomalies=("lost",), reason="lost: 3", run="cells/x")
    )
    made.save(tmp_path / "sweep.json")
    assert Grid.load(tmp_path / "sweep.json") == made
    assert [path.name for path in tmp_path.iterdir()] == ["sweep.json"]


def test_text_shows_every_kind_of_cell() -> None:
    text = render_grid_text(
        grid(Outcome.HELD)
        .with_cell(
            cell(NAMES[1], Outcome.BROKEN, anomalies=("lost",), reason="lost: 3", repeat="again!")
        )
        .with_cell(cell(NAMES[2], Outcome.NOT_REACHED))
    )
    assert "1 held, 1 broken, 1 not reached, 1 still to come" in text
    lines = [line.split() for line in text.splitlines()]
    assert ["EndTxn", "request", "held", "BROKEN", "lost"] in lines
    assert ["response", "-", "·"] in lines
    assert ["Produce", "request", "…", "·"] in lines
    assert "again!" in text


def test_html_leads_to_the_run_and_escapes() -> None:
    page = render_grid_html(
        grid().with_cell(
            cell(NAMES[0], Outcome.BROKEN, anomalies=("lost",), reason="<b>", run="cells/a/b")
        )
    )
    assert 'href="cells/a/b/report.html"' in page
    assert "<b>" not in page


def test_junit_tells_outcomes_apart() -> None:
    root = ElementTree.fromstring(
        render_grid_junit(grid(Outcome.HELD, Outcome.BROKEN, Outcome.UNKNOWN, Outcome.NOT_REACHED))
    )
    counted = {name: root.attrib[name] for name in ("tests", "failures", "errors", "skipped")}
    assert counted == {"tests": "4", "failures": "1", "errors": "1", "skipped": "1"}
