"""`onceproof report RUN_DIR`: draw the reports of a stored run again."""

from pathlib import Path

import typer

from onceproof.cli.printing import say


def report(run_dir: Path = typer.Argument(help="A run directory.")) -> int:
    """Draw report.html and report.txt again, from what is stored."""
    from onceproof.history.run_directory import RunDirectory
    from onceproof.report.write import write_reports

    directory = RunDirectory(run_dir)
    write_reports(directory)
    say(str(directory.report_html))
    return 0
