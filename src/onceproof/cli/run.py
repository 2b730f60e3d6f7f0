"""`onceproof run`: one scenario, one verdict."""

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from onceproof.cli.printing import say, say_error, say_json
from onceproof.errors import OnceproofError, UsageError

if TYPE_CHECKING:
    from onceproof.history.run_directory import RunDirectory
    from onceproof.history.verdict import TrialResult
    from onceproof.trial.planning.request import Request

BISECT_SKIP = 125


def run(
    scenario: str = typer.Argument("chaos_loop", help="A scenario, scenario:variant, or a .toml."),
    suspect: str | None = typer.Option(None, help="Who is on trial; see onceproof list suspects."),
    command: str | None = typer.Option(None, help="Your own program, put on trial."),
    workload: str | None = typer.Option(None, help="copy, fold, dedup or last."),
    seed: int = typer.Option(1, help="Same seed: same input, same schedule."),
    records: int | None = typer.Option(None, help="How many input records."),
    iterations: int | None = typer.Option(None, help="How often a loop goes round."),
    random_faults: int | None = typer.Option(None, metavar="N", help="Faults drawn by the seed."),
    program: str | None = typer.Option(None, help='Instances to toggle: "1 2 3", or "random".'),
    kafka: str | None = typer.Option(None, help="Version of the brokers."),
    kafka_jars: Path | None = typer.Option(None, help="Brokers of your own build: its jars."),
    streams: str | None = typer.Option(None, help="Version of Kafka Streams, for suspects of it."),
    streams_jars: Path | None = typer.Option(None, help="Streams of your own build: its jars."),
    streams_config: Path | None = typer.Option(None, help="A properties file for Kafka Streams."),
    settings: list[str] = typer.Option([], "--set", help="key=value, as often as needed."),
    bootstrap_server: str | None = typer.Option(None, help="A cluster that runs already."),
    runs_dir: Path = typer.Option(Path("runs"), help="Where run directories are made."),
    keep_cluster: bool = typer.Option(False, help="Leave the brokers running at the end."),
    as_json: bool = typer.Option(False, "--json", help="Print verdict.json to standard output."),
    bisect: bool = typer.Option(False, help="UNKNOWN exits 125, as `git bisect run` skips it."),
) -> int:
    """Run a scenario (chaos_loop by default) and judge it."""
    from onceproof.trial.planning.request import Request

    return _run(
        Request(
            scenario=scenario,
            suspect=suspect,
            command=command,
            workload=workload,
            seed=seed,
            records=records,
            iterations=iterations,
            random_faults=random_faults,
            program=program,
            kafka=kafka,
            kafka_jars=kafka_jars,
            streams=streams,
            streams_jars=streams_jars,
            streams_config=streams_config,
            bootstrap_server=bootstrap_server,
            settings=tuple(settings),
            runs_dir=runs_dir,
            keep_cluster=keep_cluster,
        ),
        as_json=as_json,
        bisect=bisect,
    )


def _run(request: "Request", *, as_json: bool, bisect: bool) -> int:
    from onceproof.cli.display import display
    from onceproof.trial.planning.plan import make_plan
    from onceproof.trial.run import run_trial

    try:
        plan = make_plan(request)
        with display(plan) as listener:
            result, directory = run_trial(plan, listener)
    except UsageError:
        raise
    except OnceproofError as error:
        if not bisect:
            raise
        # A build that is not there, or whose brokers do not start, is neither good nor bad.
        say_error(f"skipped: {error}")
        return BISECT_SKIP
    _tell(result, directory, as_json=as_json)
    if bisect and not _tells_good_from_bad(result, plan.scenario.expect_anomalies):
        return BISECT_SKIP
    return result.verdict.exit_code


def _tells_good_from_bad(result: "TrialResult", searched: Collection[str]) -> bool:
    """Neither UNKNOWN does, nor a build that breaks by something else than the bug it is for."""
    if result.verdict.value == "BROKEN" and not set(searched) <= set(result.anomalies):
        say_error(f"skipped: it broke otherwise than by {', '.join(searched)}")
        return False
    return result.verdict.value != "UNKNOWN"


def _tell(result: "TrialResult", directory: "RunDirectory", *, as_json: bool) -> None:
    from onceproof.cli.display import banner

    if as_json:
        say_json(result.to_json())
        return
    for line in banner(result):
        say(line)
    say(f"{result.verdict.value}  {directory.report_html}")
