"""The command line, as given, and the command line that asks for the same again."""

import shlex
from dataclasses import dataclass
from pathlib import Path

from onceproof.trial.planning.scenario import DEFAULT

SEED_DEFAULT = 1


@dataclass(frozen=True, kw_only=True)
class Request:
    """The command line, as given. None: not given."""

    scenario: str = DEFAULT
    suspect: str | None = None
    command: str | None = None
    workload: str | None = None
    seed: int = SEED_DEFAULT
    records: int | None = None
    iterations: int | None = None
    random_faults: int | None = None  # instead of the scenario's own
    program: str | None = None  # likewise
    kafka: str | None = None
    kafka_jars: Path | None = None  # brokers of the user's own build
    streams: str | None = None  # for a suspect of Kafka Streams
    streams_jars: Path | None = None  # of the user's own build
    streams_config: Path | None = None
    bootstrap_server: str | None = None
    settings: tuple[str, ...] = ()  # key=value
    runs_dir: Path = Path("runs")
    keep_cluster: bool = False
    repeat: str = ""  # the command that asked for this, if it was another than `run`


def repeat_command(request: Request) -> str:
    """The command line that asks for the same again."""
    words = ["onceproof", "run", request.scenario]
    options = {
        "--suspect": None if request.command else request.suspect,
        "--command": request.command,
        "--workload": request.workload,
        "--seed": request.seed,
        "--records": request.records,
        "--iterations": request.iterations,
        "--random-faults": request.random_faults,
        "--program": request.program,
        "--kafka": request.kafka,
        "--kafka-jars": request.kafka_jars,
        "--streams": request.streams,
        "--streams-jars": request.streams_jars,
        "--streams-config": request.streams_config,
        "--bootstrap-server": request.bootstrap_server,
    }
    for name, value in options.items():
        words += [] if value is None else [name, str(value)]
    for pair in request.settings:
        words += ["--set", pair]
    return shlex.join(words)
