"""`onceproof check RUN_DIR`: judge a stored run again, without running it."""

import json
from pathlib import Path

import typer

from onceproof.cli.printing import say, say_json
from onceproof.errors import UsageError


def check(
    run_dir: Path = typer.Argument(help="A run directory."),
    as_json: bool = typer.Option(False, "--json", help="Print the findings as JSON."),
) -> int:
    """Judge a stored run again: the same checks on the same data."""
    import tempfile

    from onceproof.history.run_directory import RunDirectory
    from onceproof.history.verdict import TrialResult
    from onceproof.trial.judging.recheck import read_case, recheck
    from onceproof.trial.spark import JudgeSpark

    directory = RunDirectory(run_dir)
    for needed in (directory.run_json, directory.verdict_json, directory.history / "output"):
        if not needed.exists():
            raise UsageError(f"{run_dir} is no finished run directory: {needed.name} is missing")
    try:
        stored = TrialResult.load(directory.verdict_json)
        about = json.loads(directory.run_json.read_text(encoding="utf-8"))
        if "case" not in about:
            raise UsageError(f"{run_dir} was never judged: it has nothing to judge again")
        facts, besides = read_case(about["case"], stored)
    except (ValueError, KeyError, TypeError) as problem:
        raise UsageError(
            f"{run_dir} cannot be read: {problem!r}; is it cut short, or of another onceproof?"
        ) from problem
    with tempfile.TemporaryDirectory() as scratch:
        spark = JudgeSpark.start(Path(scratch), Path(scratch))
        try:
            again = recheck(spark.session, directory, stored, facts, besides)
        finally:
            spark.stop()
    if as_json:
        say_json(again.to_json())
    else:
        for finding in again.findings:
            say(f"{finding.anomaly}: {finding.count}")
            for witness in finding.witnesses:
                say(f"  {witness.sentence}")
        for reason in again.reasons:
            say(f"  {reason}")
        say(f"{again.verdict.value} (stored: {stored.verdict.value})")
    return again.verdict.exit_code
