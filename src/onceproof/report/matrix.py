"""A matrix for people: lines for a terminal, one HTML page, a Markdown table for other texts.

KAFKA-17507  kafka_17507_marker_race, consumer_transactional, seed 1
kafka  verdict                       expected  broken  time
3.8.0  BROKEN lost 20                BROKEN    1 of 1  31.2 s
3.9.1  HELD                          HELD      0 of 1  33.0 s
first bad 3.8.0, first good 3.9.1: as expected
"""

from collections.abc import Iterator, Mapping, Sequence

from onceproof.history.matrix import Matrix, MatrixRow
from onceproof.history.verdict import Verdict
from onceproof.report.html import environment

TO_COME = "…"
NOT_KNOWN = "-"
GAP = 2
ENDS = {0: "as expected", 1: "not as expected", 2: "something could not be told"}


def end_of(matrix: Matrix) -> str:
    """How it compares with what was expected, if anything was."""
    if matrix.exit_code == 0 and all(row.expected is None for row in matrix.rows):
        return "nothing was expected"
    return ENDS[matrix.exit_code]


def render_matrix_text(matrices: Sequence[Matrix]) -> str:
    return "\n".join("\n".join(_lines(matrix)) + "\n" for matrix in matrices)


def _lines(matrix: Matrix) -> Iterator[str]:
    yield headline(matrix)
    table = [columns(matrix), *(cells(row) for row in matrix.rows)]
    widths = [max(len(line[column]) for line in table) + GAP for column in range(len(table[0]))]
    for line in table:
        yield "".join(word.ljust(width) for word, width in zip(line, widths, strict=True)).rstrip()
    yield f"{summary(matrix)}: {end_of(matrix)}"
    for row in matrix.rows:
        for trial in row.trials:
            if trial.verdict.value == "UNKNOWN" or not row.is_as_expected:
                yield f"    {row.version}: {trial.verdict.value}: {trial.reason or 'held'}"
                yield f"        run     {trial.run or 'none'}"
                yield f"        repeat  {trial.repeat}"


def render_matrix_markdown(matrices: Sequence[Matrix]) -> str:
    """One line a scenario, for a README or a ticket."""
    lines = ["| ticket | scenario | versions of | outcome |", "|---|---|---|---|"]
    for matrix in matrices:
        outcome = " · ".join(map(_outcome, matrix.rows))
        lines.append(f"| {matrix.ticket} | `{matrix.scenario}` | {matrix.axis} | {outcome} |")
    return "\n".join(lines) + "\n"


def _outcome(row: MatrixRow) -> str:
    """`3.8.0 **BROKEN** 1 of 1 (lost 20)`; how often it came out so."""
    if row.verdict is None:
        return f"{row.version} {TO_COME}"
    verdict = row.verdict.value
    times = sum(trial.verdict is row.verdict for trial in row.trials)
    if row.verdict is not Verdict.BROKEN:
        return f"{row.version} {verdict} {times} of {len(row.trials)}"
    told = f"{row.version} {verdict} {_came(row)}"
    return f"{told.replace(verdict, f'**{verdict}**')} ({found_in(row.anomalies)})"


def headline(matrix: Matrix) -> str:
    named = f"{matrix.scenario}, {matrix.suspect}, seed {matrix.seed}"
    return f"{matrix.ticket}  {named}" if matrix.ticket else named


def columns(matrix: Matrix) -> list[str]:
    return [matrix.axis, "verdict", "expected", "broken", "time"]


def cells(row: MatrixRow) -> list[str]:
    """One row, in the order of `columns`."""
    tried = len(row.trials)
    verdict = TO_COME if row.verdict is None else row.verdict.value
    return [
        row.version,
        " ".join(filter(None, (verdict, found_in(row.anomalies)))),
        NOT_KNOWN if row.expected is None else row.expected.value,
        _came(row) if tried else TO_COME,
        f"{row.duration_s:.1f} s" if tried else TO_COME,
    ]


def _came(row: MatrixRow) -> str:
    otherwise = f", {row.broken_otherwise} otherwise" if row.broken_otherwise else ""
    unknown = f", {row.unknown} unknown" if row.unknown else ""
    return f"{row.broken} of {len(row.trials)}{otherwise}{unknown}"


def found_in(anomalies: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in anomalies.items())


def summary(matrix: Matrix) -> str:
    bad = f"first bad {matrix.first_bad}" if matrix.first_bad else _none_bad(matrix)
    good = f"first good {matrix.first_good}" if matrix.first_good else "none is good"
    return f"{bad}, {good}"


def _none_bad(matrix: Matrix) -> str:
    return "none is bad" if matrix.is_any_bad is False else "first bad not known"


def render_matrix_html(matrices: Sequence[Matrix]) -> str:
    template = environment().get_template("matrix.html")
    return template.render(
        matrices=matrices,
        headline=headline,
        columns=columns,
        cells=cells,
        summary=summary,
        end_of=end_of,
    )
