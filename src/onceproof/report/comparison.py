"""A comparison for people: one table for a terminal, one HTML page.

mode                    claims         measured       speed           torn
consumer_manual_commit  at least once  at least once  21,000/s 0.90×  duplicated 20 (2 of 3), 3.1 s
consumer_sqlite         exactly once   exactly once   35,000/s 1.50×  ·

`·` is no cell: that fault cannot meet that mode. Seconds: from the fault until work went on. Speed:
records a second, and relative to auto-commit's.
"""

from collections.abc import Iterator

from onceproof.history.comparison import SPEED, Comparison, Mode, ModeCell
from onceproof.report.html import environment

NO_CELL = "·"
TO_COME = "…"
GAP = 2
ENDS = {
    0: "each mode keeps what it claims",
    1: "a mode does not keep what it claims",
    2: "something could not be told",
}


def render_comparison_text(comparison: Comparison) -> str:
    table = [columns(comparison), *(words for _, words in rows(comparison))]
    widths = [max(map(len, column)) + GAP for column in zip(*table, strict=True)]
    drawn = (
        "".join(word.ljust(width) for word, width in zip(line, widths, strict=True)).rstrip()
        for line in table
    )
    return "\n".join([*drawn, "", summary(comparison), *_details(comparison)]) + "\n"


def columns(comparison: Comparison) -> list[str]:
    return ["mode", "claims", "measured", *comparison.faults]


def rows(comparison: Comparison) -> Iterator[tuple[str, list[str]]]:
    """By mode: its words, in the order of `columns`."""
    for mode in comparison.modes:
        cells = (cell_word(comparison, mode.name, fault) for fault in comparison.faults)
        claims = f"{mode.claims} (a lie)" if mode.is_liar else mode.claims
        measured = comparison.measured(mode.name) or TO_COME
        yield mode.name, [mode.name, claims, measured, *cells]


def cell_word(comparison: Comparison, mode: str, fault: str) -> str:
    """The cell, and beside a speed what it is relative to auto-commit's."""
    told = word(comparison.cell(mode, fault))
    relative = comparison.relative_speed(mode) if fault == SPEED else None
    return told if relative is None else f"{told} {relative:.2f}×"


def word(cell: ModeCell | None) -> str:
    if cell is None:
        return TO_COME
    if not cell.trials:
        return NO_CELL
    tried = len(cell.trials)
    found = ", ".join(f"{name} {count}" for name, count in cell.anomalies.items())
    told = f"{found}{_of(cell.broken, tried)}" if found else "held"
    if cell.unknown:
        unknown = f"unknown{_of(cell.unknown, tried)}"
        told = unknown if cell.unknown == tried else f"{told}, {unknown}"
    if cell.fault == SPEED and told == "held":
        return "too fast" if cell.records_per_s is None else f"{cell.records_per_s:,.0f}/s"
    return told if cell.recovery_s is None else f"{told}, {cell.recovery_s:.1f} s"


def _of(count: int, tried: int) -> str:
    return "" if tried == 1 else f" ({count} of {tried})"


def kind(comparison: Comparison, mode: Mode, fault: str) -> str:
    """How the page colours it: what a mode does not promise, it may break."""
    cell = comparison.cell(mode.name, fault)
    if cell is None or not cell.trials:
        return "none"
    if cell.broken:
        return "allowed" if comparison.is_kept(mode, fault) else "broken"
    return "unknown" if cell.unknown else "held"


def summary(comparison: Comparison) -> str:
    return f"{ENDS[comparison.exit_code]} (seed {comparison.seed})"


def _details(comparison: Comparison) -> Iterator[str]:
    for cell in comparison.cells:
        for trial in cell.trials:
            if trial.verdict.value == "UNKNOWN":
                yield ""
                yield f"unknown: {cell.mode} under {cell.fault}: {trial.reason}"
                yield f"    run     {trial.run or 'none'}"
                yield f"    repeat  {trial.repeat}"


def render_comparison_html(comparison: Comparison) -> str:
    template = environment().get_template("comparison.html")
    return template.render(
        comparison=comparison,
        columns=columns(comparison),
        summary=summary(comparison),
        repeats=max((len(cell.trials) for cell in comparison.cells), default=0),
        word=cell_word,
        kind=kind,
        measured=comparison.measured,
    )
