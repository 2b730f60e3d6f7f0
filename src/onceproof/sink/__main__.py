"""The operator's commands: `python -m onceproof.sink inspect|accept|skip`. Standard library only.

python -m onceproof.sink inspect --sink-id orders --bootstrap-server host:9092
python -m onceproof.sink accept  --sink-id orders --bootstrap-server host:9092 --batch 17 --reason …
"""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from onceproof.sink.client.connection import require_connection
from onceproof.sink.errors import SinkError
from onceproof.sink.ledger.entries import Decision
from onceproof.sink.ledger.topic import require_ledger
from onceproof.sink.operator import SinkState, inspect, rule
from onceproof.sink.properties import read_properties
from onceproof.sink.settings import Settings, make_settings


def main(arguments: list[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    try:
        settings = _settings(given)
        require_connection(dict(settings.client))
        require_ledger(settings)
        if given.command == "inspect":
            state = inspect(settings)
            _say(json.dumps(_as_json(state)) if given.json else told(state, settings))
            return 0
        ruling = rule(
            settings, batch=given.batch, decision=Decision(given.command), reason=given.reason
        )
        _say(f"batch {given.batch}: {ruling.decision}, by {ruling.by} at {ruling.at}, recorded")
        return 0
    except SinkError as error:
        sys.stderr.write(f"onceproof.sink: {error}\n")
        return 1


def told(state: SinkState, settings: Settings) -> str:
    """What `inspect` prints. Pure."""
    manifest = state.manifest
    if manifest is None:
        return f"sink {settings.sink_id}: ledger {settings.ledger_topic} is empty"
    lines = [
        f"sink {settings.sink_id}: last batch {manifest.batch} of query {manifest.query},"
        f" {manifest.lanes} lanes by {manifest.cut}"
    ]
    missing = state.missing()
    for lane, token in state.tokens.items():
        what = "no token" if token is None else f"batch {token.batch}, {token.rows} rows"
        digest = "" if token is None else f", digest {token.digest}"
        lines.append(
            f"  lane {lane}: {'MISSING' if lane in missing else 'committed'} ({what}{digest})"
        )
    if state.ruling is not None:
        ruling = state.ruling
        lines.append(f"  ruling: {ruling.decision} by {ruling.by} at {ruling.at}: {ruling.reason}")
    lines.append(f"  {len(missing)} of {manifest.lanes} lanes missing")
    return "\n".join(lines)


def _as_json(state: SinkState) -> dict[str, object]:
    return {**asdict(state), "missing": state.missing()}


def _settings(given: argparse.Namespace) -> Settings:
    options = {"kafka.bootstrap.servers": given.bootstrap_server}
    if given.command_config is not None:
        properties = read_properties(given.command_config, "--command-config")
        options.update({f"kafka.{name}": value for name, value in properties.items()})
    return make_settings(
        sink_id=given.sink_id,
        topic=None,
        options=options,
        lanes=1,
        ledger_topic=given.ledger_topic,
        takeover=False,
        adopt=False,
        small_lane_bytes=0,
        small_batch_bytes=0,
        fast=True,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m onceproof.sink", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, purpose in (
        ("inspect", "show what is committed of the last batch; changes nothing"),
        ("accept", "keep what is committed of a batch, and let its missing lanes be written"),
        ("skip", "write nothing more of a batch"),
    ):
        command = commands.add_parser(name, help=purpose, description=purpose)
        command.add_argument("--sink-id", required=True)
        command.add_argument("--bootstrap-server", required=True)
        command.add_argument("--ledger-topic", help="only if the sink was given one")
        command.add_argument("--command-config", type=Path, help="client settings, Java's names")
        if name == "inspect":
            command.add_argument("--json", action="store_true")
        else:
            command.add_argument("--batch", type=int, required=True)
            command.add_argument("--reason", required=True, help="stays in the ledger")
    return parser


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")


if __name__ == "__main__":
    sys.exit(main())
