"""`onceproof offsets`: the numbers a consumer can be fooled by. Read-only."""

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from onceproof.cli.printing import say, say_json
from onceproof.errors import ClusterError, DeadlineExpired

if TYPE_CHECKING:
    from onceproof.offsets.view import OffsetsView

CLEAR = "\033[H\033[2J"


def offsets(
    bootstrap_server: str = typer.Option(..., help="The cluster to ask."),
    command_config: Path | None = typer.Option(None, help="Client settings, Java's names."),
    topic: list[str] = typer.Option([], help="A topic, as often as needed; by default all."),
    group: str | None = typer.Option(None, help="A consumer group: its positions and lags."),
    watch: bool = typer.Option(False, help="Again and again, until interrupted."),
    every_s: float = typer.Option(1.0, min=0.1, help="With --watch: how often."),
    as_json: bool = typer.Option(False, "--json", help="As JSON; with --watch a line each time."),
) -> int:
    """Log start, LSO, HWM, replicas' ends, positions, both lags, open transactions."""
    from onceproof.cluster.client import BrokerClient
    from onceproof.cluster.command_config import security_of
    from onceproof.deadline import pause
    from onceproof.offsets.read import read_offsets

    with BrokerClient(bootstrap_server, security=security_of(command_config)) as client:
        if not watch:
            view = read_offsets(client, topic, group)
            say_json(view.to_json()) if as_json else say(_drawn(view))
            return 0
        while True:
            try:
                view = read_offsets(client, topic, group)
                say(json.dumps(view.to_json()) if as_json else CLEAR + _drawn(view))
            except (
                ClusterError,
                DeadlineExpired,
            ) as error:  # a leader moves: the next turn may tell
                say(json.dumps({"error": str(error)}) if as_json else f"{CLEAR}{error}")
            pause(every_s)


def _drawn(view: "OffsetsView") -> str:
    from onceproof.offsets.draw import draw

    return draw(view, now_ms=int(time.time() * 1000))
