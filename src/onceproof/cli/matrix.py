"""`onceproof matrix`: one scenario on many versions of one part; first bad, first good."""

import time
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from onceproof.cli.printing import say, say_error, say_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onceproof.history.matrix import Matrix
    from onceproof.trial.many.matrix import Told


def matrix(
    scenario: str = typer.Argument(help="A scenario that names an axis, or `all` of them."),
    versions: str | None = typer.Option(None, help="V1,V2,…; by default those it knows."),
    suspect: str | None = typer.Option(None, help="Who is on trial, if another."),
    repeat: int = typer.Option(1, help="How often on each version."),
    seed: int = typer.Option(1, help="Same seed: same input, same schedule."),
    records: int | None = typer.Option(None, help="How many input records."),
    settings: list[str] = typer.Option([], "--set", help="key=value, as often as needed."),
    exposure: bool = typer.Option(False, help="With defaults and a plain fault: how often?"),
    kafka_jars: Path | None = typer.Option(None, help="Brokers of your own build: one row more."),
    streams_jars: Path | None = typer.Option(None, help="Streams of your own build, likewise."),
    streams_config: Path | None = typer.Option(None, help="A properties file for Kafka Streams."),
    runs_dir: Path = typer.Option(Path("runs"), help="Where the matrix's directory is made."),
    as_json: bool = typer.Option(False, "--json", help="Print matrix.json to standard output."),
) -> int:
    """Run a scenario on one version after the other: which are bad?"""
    from onceproof.history.matrix import exit_code
    from onceproof.report.matrix import render_matrix_text
    from onceproof.trial.many.axis import MatrixRequest, plan_axes
    from onceproof.trial.many.matrix import MatrixRun

    request = MatrixRequest(
        scenario=scenario,
        versions=versions,
        suspect=suspect,
        repeats=repeat,
        seed=seed,
        records=records,
        settings=tuple(settings),
        exposure=exposure,
        kafka_jars=kafka_jars,
        streams_jars=streams_jars,
        streams_config=streams_config,
    )
    directory = _fresh(runs_dir, scenario, seed)
    going = MatrixRun(plan_axes(request, directory), directory, repeats=repeat, tell=_tell)
    try:
        going.run()
    finally:
        _write(going.matrices, directory)
    if as_json:
        say_json([each.to_json() for each in going.matrices])
    else:
        say(render_matrix_text(going.matrices).rstrip())
        say(f"{directory / 'matrix.html'}")
    return exit_code(going.matrices)


def _fresh(runs_dir: Path, scenario: str, seed: int) -> Path:
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    name = Path(scenario.replace(":", "-")).stem
    return runs_dir / f"matrix-{name}" / f"{stamp}-s{seed}"


def _tell(told: "Told") -> None:
    from onceproof.report.matrix import found_in

    matrix = told.matrix
    where = f"{matrix.scenario} on {matrix.axis} {told.version}, {told.number} of {matrix.repeats}"
    if told.trial is None:
        say_error(f"{where} …")
        return
    trial = told.trial
    found = found_in(trial.anomalies) or trial.reason
    verdict = " ".join(filter(None, (trial.verdict.value, found)))
    say_error(f"{where}: {verdict}  ({trial.duration_s:.1f} s)")


def _write(matrices: "Sequence[Matrix]", directory: Path) -> None:
    from onceproof.report.matrix import (
        render_matrix_html,
        render_matrix_markdown,
        render_matrix_text,
    )

    if directory.is_dir():
        (directory / "matrix.md").write_text(render_matrix_markdown(matrices))
        (directory / "matrix.txt").write_text(render_matrix_text(matrices))
        (directory / "matrix.html").write_text(render_matrix_html(matrices))
