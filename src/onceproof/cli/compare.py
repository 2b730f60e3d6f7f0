"""`onceproof compare`: every delivery mode under every fault, one table."""

import time
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from onceproof.cli.printing import say, say_error, say_json
from onceproof.errors import UsageError

if TYPE_CHECKING:
    from onceproof.history.comparison import Comparison
    from onceproof.trial.many.compare import Told
    from onceproof.trial.many.compare_plan import CompareRequest


def compare(
    modes: str | None = typer.Option(None, help="consumer_…,…; by default all of ours."),
    faults: str | None = typer.Option(
        None,
        help="speed,none,mid_batch,torn,late_commit,rebalance,pause,broker,network; by default all",
    ),
    repeat: int = typer.Option(1, min=1, max=100, help="How often each cell is tried."),
    seed: int = typer.Option(1, help="Same seed: same input, same schedule."),
    records: int | None = typer.Option(None, help="How many input records a cell has."),
    brokers: int = typer.Option(3, min=1, max=3, help="How many brokers serve the whole table."),
    kafka: str | None = typer.Option(None, help="Version of the brokers."),
    settings: list[str] = typer.Option([], "--set", help="key=value, for the modes that have it."),
    runs_dir: Path = typer.Option(Path("runs"), help="Where its directory is made."),
    resume: Path | None = typer.Option(None, help="Go on with a comparison, by its directory."),
    as_json: bool = typer.Option(False, "--json", help="Print compare.json to standard output."),
) -> int:
    """Compare the ways to consume: what each claims, what faults make of it."""
    from onceproof.report.comparison import render_comparison_text
    from onceproof.trial.many.compare import Compare
    from onceproof.trial.many.compare_plan import CompareRequest

    request = CompareRequest(
        modes=modes,
        faults=faults,
        seed=seed,
        records=records,
        repeats=repeat,
        brokers=brokers,
        kafka=kafka,
        settings=tuple(settings),
    )
    directory = runs_dir / "compare" / f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-s{seed}"
    if resume is not None:
        request, directory = _stored(resume, request), resume
    going = Compare(request, directory, _tell)
    try:
        comparison = going.run()
    finally:
        _write(going.comparison, directory)
    if as_json:
        say_json(comparison.to_json())
    else:
        say(render_comparison_text(comparison).rstrip())
        say(f"{directory / 'compare.html'}")
    return comparison.exit_code


def _stored(directory: Path, given: "CompareRequest") -> "CompareRequest":
    """It goes on as it was begun; other arguments would make it another one."""
    from onceproof.history.comparison import Comparison
    from onceproof.trial.many.compare import COMPARE_JSON
    from onceproof.trial.many.compare_plan import CompareRequest

    if given != CompareRequest():
        raise UsageError("--resume goes on with what was asked then; leave other options out")
    path = directory / COMPARE_JSON
    if not path.exists():
        raise UsageError(f"{directory} holds no comparison: {COMPARE_JSON} is missing")
    try:
        asked = dict(Comparison.load(path).asked)
        # One begun by an earlier version knows no settings.
        return CompareRequest(**{**asked, "settings": tuple(asked.get("settings", ()))})
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path} is no comparison of this version: {error}") from error


def _tell(told: "Told") -> None:
    from onceproof.report.comparison import word

    done = len(told.comparison.cells)
    every = len(told.comparison.modes) * len(told.comparison.faults)
    if told.cell is None:
        say_error(f"{done:3}/{every}  {told.begins} …")
        return
    took_s = sum(trial.duration_s for trial in told.cell.trials)
    name = f"{told.cell.mode} under {told.cell.fault}"
    say_error(f"{done:3}/{every}  {name}: {word(told.cell)}  ({took_s:.1f} s)")


def _write(comparison: "Comparison", directory: Path) -> None:
    from onceproof.report.comparison import render_comparison_html, render_comparison_text

    if directory.is_dir():
        (directory / "compare.txt").write_text(render_comparison_text(comparison))
        (directory / "compare.html").write_text(render_comparison_html(comparison))
