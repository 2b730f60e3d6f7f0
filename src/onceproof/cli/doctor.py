"""`onceproof doctor`: what ails a cluster and its clients, and what to do. Read-only but for
`--abort`.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from onceproof.cli.printing import say, say_error, say_json
from onceproof.errors import UsageError

if TYPE_CHECKING:
    from onceproof.cluster.client import BrokerClient
    from onceproof.doctor.diagnosis import Diagnosis, Hanging
    from onceproof.doctor.seen import Looks, Standing

BETWEEN_S = 6.0  # longer than auto-commit's interval, so that a healthy group has moved
FOUND, NOT_ALL_TOLD = 1, 2
GROUP, BOOTSTRAP = "group.id", "bootstrap.servers"


def doctor(
    bootstrap_server: str = typer.Option(..., help="The cluster to ask."),
    command_config: Path | None = typer.Option(None, help="Client settings, Java's names."),
    group: list[str] = typer.Option([], help="A consumer group, as often as needed; else all."),
    client_config: Path | None = typer.Option(None, help="A client's settings, to look at."),
    between_s: float = typer.Option(BETWEEN_S, min=0.1, help="How far apart the two looks are."),
    abort: bool = typer.Option(False, "--abort", help="Abort hanging transactions; asks first."),
    yes: bool = typer.Option(False, "--yes", help="With --abort: do not ask."),
    as_json: bool = typer.Option(False, "--json", help="As JSON."),
) -> int:
    """Hanging transactions, groups that get no further, brokers out of reach, traps in settings."""
    from onceproof.cluster.client import BrokerClient
    from onceproof.cluster.command_config import read_properties, security_of
    from onceproof.doctor.read import choose_groups

    if yes and not abort:
        raise UsageError("--yes goes with --abort")
    settings = read_properties(client_config, "--client-config") if client_config else {}
    with BrokerClient(bootstrap_server, security=security_of(command_config)) as client:
        groups, untold = choose_groups(client, group)
        standing, looks = _examine(client, groups, settings, between_s)
        found = _diagnoses(client, standing, looks, settings, given=client_config is not None)
        untold += [*standing.untold, *looks.second.untold]
        _show(found, untold, _scope(standing, looks), as_json=as_json)
        # One that does not come from a transaction has none: that is never ended.
        ended = _abort_each(client, found, yes=yes) if abort else set()
    if any(each.hanging not in ended for each in found):
        return FOUND
    return NOT_ALL_TOLD if untold else 0


def _examine(
    client: "BrokerClient", groups: list[str], settings: dict[str, str], between_s: float
) -> "tuple[Standing, Looks]":
    from onceproof.deadline import pause
    from onceproof.doctor.read import look, read_standing
    from onceproof.doctor.seen import Looks

    more = tuple(filter(None, settings.get(BOOTSTRAP, "").split(",")))
    standing = read_standing(client, more)
    first = look(client, groups)
    pause(between_s)
    return standing, Looks(first=first, second=look(client, groups))


def _diagnoses(
    client: "BrokerClient",
    standing: "Standing",
    looks: "Looks",
    settings: dict[str, str],
    *,
    given: bool,
) -> "list[Diagnosis]":
    from onceproof.doctor.catalog import diagnose, diagnose_client
    from onceproof.doctor.read import transactional_topics

    found = diagnose(standing, looks)
    if given:
        known = {each.group for each in looks.second.groups}
        group = settings.get(GROUP)
        topics = transactional_topics(client, group if group in known else None)
        found += diagnose_client(settings, topics)
    return found


def _scope(standing: "Standing", looks: "Looks") -> str:
    brokers = sum(each.broker is not None for each in standing.doors)
    return (
        f"looked at {brokers} brokers, {len(standing.topics)} topics and"
        f" {len(looks.second.groups)} groups, twice, {looks.between_s:.1f} s apart"
    )


def _show(found: "list[Diagnosis]", untold: list[str], scope: str, *, as_json: bool) -> None:
    from onceproof.doctor.draw import draw

    if as_json:
        findings = [each.to_json() for each in found]
        say_json({"findings": findings, "untold": untold, "scope": scope})
    else:
        say(draw(found, untold, scope))


def _abort_each(
    client: "BrokerClient", found: "list[Diagnosis]", *, yes: bool
) -> "set[Hanging | None]":
    """Those that were ended: each is asked for, unless `yes`."""
    from onceproof.cluster.markers import abort_open
    from onceproof.doctor.open_transactions import HANGING

    ended: set[Hanging | None] = set()
    for each in found:
        hanging = each.hanging
        if hanging is None or each.kind != HANGING or not (yes or _confirmed(each)):
            continue
        lso = abort_open(client, hanging.topic, hanging.partition, hanging.start_offset)
        say_error(f"{each.subject}: aborted; its LSO went from {hanging.start_offset} to {lso}")
        ended.add(hanging)
    return ended


def _confirmed(each: "Diagnosis") -> bool:
    """What the transaction has written is lost to read_committed readers: a person decides."""
    try:
        return typer.confirm(f"{each.subject}: {each.seen}. Abort it?", err=True)
    except typer.Abort as error:
        raise UsageError("--abort asks before it writes, and nobody answers: add --yes") from error
