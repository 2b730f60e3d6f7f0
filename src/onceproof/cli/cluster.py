"""`onceproof cluster up|status|down`: brokers to play with, that outlive the command."""

from pathlib import Path

import typer

from onceproof.cli.printing import say, say_error, say_json
from onceproof.errors import UsageError

app = typer.Typer(help="A cluster to play with.", no_args_is_help=True, rich_markup_mode=None)
DIRECTORY = typer.Option(Path("runs/cluster"), help="Where the cluster lives.")


@app.command()
def up(
    kafka: str = typer.Option("4.3.1", help="Version of the brokers."),
    brokers: int = typer.Option(3, min=1, max=3, help="How many."),
    directory: Path = DIRECTORY,
) -> int:
    """Start brokers and leave them running."""
    from onceproof.cluster import keep
    from onceproof.cluster.local import LocalCluster
    from onceproof.machine import check_machine

    state_file = directory / keep.STATE_FILE
    if state_file.exists() and keep.load(state_file).running():
        raise UsageError(f"a cluster runs in {directory} already; see onceproof cluster status")
    if directory.is_dir() and any(directory.iterdir()) and not state_file.exists():
        raise UsageError(f"{directory} is not empty and holds no cluster; choose another directory")
    _clear(directory)
    directory.mkdir(parents=True, exist_ok=True)
    check_machine(directory)
    cluster = LocalCluster.start(
        kafka,
        directory=directory / "brokers",
        logs=directory / "logs",
        brokers=brokers,
        outlives_us=True,
        progress=say_error,
    )
    kept = keep.save(cluster, state_file)
    say(f"--bootstrap-server {kept.bootstrap()}")
    return 0


@app.command()
def status(
    directory: Path = DIRECTORY,
    as_json: bool = typer.Option(False, "--json", help="As JSON."),
) -> int:
    """Which brokers run, and where."""
    from onceproof.cluster import keep

    kept = keep.load(_state_file(directory))
    running = kept.running()
    if as_json:
        say_json({"running": running, "bootstrap_server": kept.bootstrap()})
    else:
        say(f"brokers {running or 'none'} run; --bootstrap-server {kept.bootstrap()}")
    return 0


@app.command()
def down(directory: Path = DIRECTORY) -> int:
    """End the brokers and remove their data."""
    from onceproof.cluster import keep

    keep.load(_state_file(directory)).stop()
    _clear(directory)
    say("the cluster is down")
    return 0


def _clear(directory: Path) -> None:
    """Remove what `up` made there, and nothing else."""
    import shutil

    from onceproof.cluster.keep import STATE_FILE

    for folder in ("brokers", "logs"):
        shutil.rmtree(directory / folder, ignore_errors=True)
    (directory / STATE_FILE).unlink(missing_ok=True)


def _state_file(directory: Path) -> Path:
    from onceproof.cluster.keep import STATE_FILE

    state_file = directory / STATE_FILE
    if not state_file.exists():
        raise UsageError(f"no cluster in {directory}; start one with onceproof cluster up")
    return state_file
