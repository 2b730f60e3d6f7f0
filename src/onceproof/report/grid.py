"""A sweep's grid for people: lines for a terminal, one HTML page; and JUnit XML for machines.

    frame               side      kill      disconnect  pause     late
    EndTxn              request   held      held        held      BROKEN lost
                        response  held      held        unknown   ·

`·` is no cell: a response that comes late comes to nobody. `-` is one that was not reached.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from onceproof.history.grid import Cell, Grid, Outcome
from onceproof.report.html import environment
from onceproof.report.junit import writable

NO_CELL = "·"
TO_COME = "…"
WORDS = {
    Outcome.HELD: "held",
    Outcome.BROKEN: "BROKEN",
    Outcome.UNKNOWN: "unknown",
    Outcome.NOT_REACHED: "-",
}
GAP = 2


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a cell stands in the grid; `cell` is None while it has not been tried."""

    name: str
    cell: Cell | None


@dataclass(frozen=True, kw_only=True)
class Row:
    frame: str
    side: str
    places: tuple[Place | None, ...]  # one for each act; None: there is no such cell


def rows(grid: Grid) -> list[Row]:
    found: dict[tuple[str, str], dict[str, Place]] = {}
    for name in grid.names:
        frame, side, act = name.split("-")
        found.setdefault((frame, side), {})[act] = Place(name=name, cell=grid.cell(name))
    return [
        Row(frame=frame, side=side, places=tuple(places.get(act) for act in acts(grid)))
        for (frame, side), places in found.items()
    ]


def acts(grid: Grid) -> list[str]:
    return list(dict.fromkeys(name.split("-")[2] for name in grid.names))


def render_grid_text(grid: Grid) -> str:
    table = [["frame", "side", *acts(grid)], *_lines(grid)]
    widths = [max(len(line[column]) for line in table) + GAP for column in range(len(table[0]))]
    drawn = (
        "".join(word.ljust(width) for word, width in zip(line, widths, strict=True)).rstrip()
        for line in table
    )
    return "\n".join([headline(grid), "", *drawn, *_details(grid)]) + "\n"


def headline(grid: Grid) -> str:
    counts = grid.counts()
    told = ", ".join(f"{count} {outcome.value}" for outcome, count in counts.items() if count)
    left = f", {len(grid.left)} still to come" if grid.left else ""
    return f"sweep of {grid.suspect} ({grid.workload}, seed {grid.seed}): {told or 'nothing'}{left}"


def _lines(grid: Grid) -> Iterator[list[str]]:
    last = ""
    for row in rows(grid):
        yield [row.frame if row.frame != last else "", row.side, *map(_word, row.places)]
        last = row.frame


def _word(place: Place | None) -> str:
    if place is None:
        return NO_CELL
    if place.cell is None:
        return TO_COME
    return " ".join([WORDS[place.cell.outcome], *place.cell.anomalies])


def _details(grid: Grid) -> Iterator[str]:
    for cell in grid.cells:
        if cell.outcome in (Outcome.BROKEN, Outcome.UNKNOWN):
            yield ""
            yield f"{WORDS[cell.outcome]}: {cell.name}: {cell.reason}"
            yield f"    run     {cell.run}"
            yield f"    repeat  {cell.repeat}"


def render_grid_html(grid: Grid) -> str:
    template = environment().get_template("grid.html")
    return template.render(
        grid=grid, rows=rows(grid), acts=acts(grid), headline=headline(grid), words=WORDS
    )


def render_grid_junit(grid: Grid) -> str:
    """A cell that held passes, one that was not reached is skipped, an unknown one is an error."""
    cases = [_case(grid, cell) for cell in grid.cells]
    root = ElementTree.Element(
        "testsuite",
        name=f"sweep of {writable(grid.suspect)}",
        tests=str(len(cases)),
        failures=_count(cases, "failure"),
        errors=_count(cases, "error"),
        skipped=_count(cases, "skipped"),
        time=f"{sum(cell.duration_s for cell in grid.cells):.1f}",
    )
    root.extend(cases)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _case(grid: Grid, cell: Cell) -> ElementTree.Element:
    element = ElementTree.Element(
        "testcase",
        classname=f"sweep.{writable(grid.suspect)}",
        name=cell.name,
        time=f"{cell.duration_s:.1f}",
    )
    tags = {
        Outcome.BROKEN: "failure",
        Outcome.UNKNOWN: "error",
        Outcome.NOT_REACHED: "skipped",
    }
    if cell.outcome in tags:
        found = ElementTree.SubElement(element, tags[cell.outcome], message=writable(cell.reason))
        found.text = writable(f"run: {cell.run}\nrepeat: {cell.repeat}")
    return element


def _count(cases: Sequence[ElementTree.Element], tag: str) -> str:
    return str(sum(case.find(tag) is not None for case in cases))
