"""`onceproof sweep`: every crash point of the commit protocol, one grid."""

import time
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from onceproof.cli.printing import say, say_error, say_json
from onceproof.errors import UsageError

if TYPE_CHECKING:
    from onceproof.history.grid import Grid
    from onceproof.trial.many.sweep import Told
    from onceproof.trial.many.sweep_plan import SweepRequest


def sweep(
    suspect: str | None = typer.Option(None, help="Who is on trial; see onceproof list suspects."),
    command: str | None = typer.Option(None, help="Your own program, put on trial."),
    workload: str | None = typer.Option(None, help="copy, fold, dedup or last."),
    only: str | None = typer.Option(None, help="One frame (EndTxn) or cell (EndTxn-request-kill)."),
    seed: int = typer.Option(1, help="Same seed: same input, same schedule."),
    records: int | None = typer.Option(None, help="How many input records a cell has."),
    kafka: str | None = typer.Option(None, help="Version of the brokers."),
    settings: list[str] = typer.Option([], "--set", help="key=value, as often as needed."),
    runs_dir: Path = typer.Option(Path("runs"), help="Where the sweep's directory is made."),
    resume: Path | None = typer.Option(None, help="Go on with a sweep, by its directory."),
    as_json: bool = typer.Option(False, "--json", help="Print sweep.json to standard output."),
) -> int:
    """Try every crash point of the commit protocol on a suspect."""
    from onceproof.report.grid import render_grid_text
    from onceproof.trial.many.sweep import Sweep
    from onceproof.trial.many.sweep_plan import SweepRequest, suspect_name

    request = SweepRequest(
        suspect=suspect,
        command=command,
        workload=workload,
        only=only,
        seed=seed,
        records=records,
        kafka=kafka,
        settings=tuple(settings),
    )
    if resume is not None:
        request, directory = _stored(resume, request), resume
    else:
        directory = _fresh(runs_dir, suspect_name(request), seed)
    going = Sweep(request, directory, _tell)
    try:
        grid = going.run()
    finally:
        _write(going.grid, directory)
    if as_json:
        say_json(grid.to_json())
    else:
        say(render_grid_text(grid).rstrip())
        say(f"{directory / 'sweep.html'}")
    return grid.exit_code


def _stored(directory: Path, given: "SweepRequest") -> "SweepRequest":
    """A sweep goes on as it was begun; other arguments would make it another one."""
    from onceproof.history.grid import Grid
    from onceproof.trial.many.sweep import SWEEP_JSON
    from onceproof.trial.many.sweep_plan import SweepRequest

    if given != SweepRequest():
        raise UsageError("--resume goes on with what was asked then; leave other options out")
    path = directory / SWEEP_JSON
    if not path.exists():
        raise UsageError(f"{directory} holds no sweep: {SWEEP_JSON} is missing")
    try:
        asked = dict(Grid.load(path).asked)
        return SweepRequest(**{**asked, "settings": tuple(asked["settings"])})
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path} is no sweep of this version: {error!r}") from error


def _fresh(runs_dir: Path, suspect: str, seed: int) -> Path:
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    return runs_dir / f"sweep-{suspect}" / f"{stamp}-s{seed}"


def _tell(told: "Told") -> None:
    from onceproof.report.grid import WORDS

    done, all_cells = len(told.grid.cells), len(told.grid.names)
    if told.begins:
        say_error(f"{done:3}/{all_cells}  {told.begins} …")
    elif told.cell is not None and told.cell.was_run:
        cell = told.cell
        found = " ".join([WORDS[cell.outcome], *cell.anomalies])
        why = f": {cell.reason}" if cell.reason and not cell.anomalies else ""
        say_error(f"{done:3}/{all_cells}  {cell.name}: {found}{why}  ({cell.duration_s:.1f} s)")


def _write(grid: "Grid", directory: Path) -> None:
    from onceproof.report.grid import render_grid_html, render_grid_junit, render_grid_text

    if not directory.is_dir():
        return
    (directory / "sweep.txt").write_text(render_grid_text(grid))
    (directory / "sweep.html").write_text(render_grid_html(grid))
    (directory / "junit.xml").write_text(render_grid_junit(grid))
