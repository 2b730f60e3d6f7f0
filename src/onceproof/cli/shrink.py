"""`onceproof shrink RUN_DIR`: the fewest faults that still break it, as a file and as a test."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from onceproof.cli.printing import say, say_error, say_json

if TYPE_CHECKING:
    from onceproof.trial.many.shrink import Shrunk

REPRODUCED, NOT_REPRODUCED = 0, 2


def shrink(
    run_dir: Path = typer.Argument(help="The directory of a BROKEN run."),
    repeats: int = typer.Option(3, help="How often a schedule is tried, at most."),
    needed: int = typer.Option(2, help="In how many of these trials it must break."),
    runs_dir: Path = typer.Option(Path("runs"), help="Where run directories are made."),
    as_json: bool = typer.Option(False, "--json", help="Print the outcome as JSON."),
) -> int:
    """Shrink a broken run's schedule to the fewest faults that still break it."""
    from onceproof.trial.many.broken_run import load_broken_run
    from onceproof.trial.many.shrink import Shrinking, one_session

    shrinking = Shrinking(
        load_broken_run(run_dir), runs_dir=runs_dir, needed=needed, repeats=repeats, tell=say_error
    )
    with one_session(shrinking.folder) as carry_out:
        shrunk = shrinking.carry_out(carry_out)
    if as_json:
        say_json(shrunk.to_json())
    else:
        for line in told(shrunk, needed, repeats):
            say(line)
    return NOT_REPRODUCED if shrunk.smallest is None else REPRODUCED


def told(shrunk: "Shrunk", needed: int, repeats: int) -> list[str]:
    """The program and the test as they stand in their files, and what they are worth."""
    cost = f"{shrunk.trials} trials, {shrunk.untold} of them UNKNOWN"
    found = shrunk.smallest
    if found is None:
        return [
            f"not reproduced: all {shrunk.faults_before} faults broke it in fewer than"
            f" {needed} of {repeats} trials ({cost})"
        ]
    left = len(found.scenario.faults)
    what = f"{shrunk.faults_before} faults shrunk to {left}" if left else "it needs no fault at all"
    return [
        "# " + str(found.toml),
        found.toml.read_text(encoding="utf-8"),
        "# " + str(found.test),
        found.test.read_text(encoding="utf-8"),
        f"{what}: broke {found.tally.broke} of {found.tally.of} times"
        f" ({', '.join(found.tally.anomalies)}); {found.scenario.iterations} iteration(s); {cost}",
        f"repeat: {found.repeat}",
    ]
