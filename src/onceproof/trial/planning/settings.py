"""The suspect's settings: what the scenario and `--set` say, sorted out and checked."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil
from pathlib import Path
from typing import Any

from onceproof.errors import UsageError, unknown_name
from onceproof.jars import kafka_versions, streams_versions
from onceproof.jars.local_lock import is_lockable
from onceproof.jars.lock import KAFKA_PREFIX, STREAMS_PREFIX
from onceproof.suspects.catalog import SUSPECTS
from onceproof.suspects.streams.config_file import check_config_file, check_names
from onceproof.suspects.streams.own_jars import own_streams
from onceproof.suspects.streams.properties import (
    AT_LEAST_ONCE,
    CACHE,
    CONFIG_FILE,
    DEFAULTS,
    EXACTLY_ONCE,
    GUARANTEE,
    OWN_JARS,
    STATE_BYTES,
    STATIC,
    WATERMARK_MS,
    is_on,
    own_properties,
)
from onceproof.suspects.suspect import Guarantee, Suspect
from onceproof.trial.planning.scenario import SETTABLE, Scenario

BROKER_PREFIX = "broker."
BATCH_RECORDS_MIN = 400
BATCHES_WANTED = 16
# Of suspects of ours: settings that are whole numbers, and the least each may be.
WHOLE_NUMBERS = {
    "lanes": 1,
    "max_offsets_per_trigger": 1,
    "parallelism": 1,
    "small_batch_bytes": 0,
    "small_lane_bytes": 0,
    "batch": 1,
    "work_ms": 0,
    "max_poll_interval_ms": 3_000,
    "commit_interval_ms": 1,
    "snapshot_every": 1,
    "state_bytes": 0,
    "watermark_ms": 0,
    "poll_ms": 1,
    "call_ms": 1,
    "request_ms": 1,
    "bootstrap_from": 0,
    "session_timeout_ms": 1_000,
}
# Of suspects of ours: settings that are true or false. (Kafka Streams looks at its own.)
SWITCHES = ("jvm",)
# What a user may say of the own command.
DECLARED = ("transactional", "offsets_in_group")
# A sum for all records, of which each has its share: "65536000 / records".
SHARED = re.compile(r"(\d+) / records")
STATE_BYTES_MAX = 1_000_000  # max.request.size and max.message.bytes are 1 MB by default
# Settings that are versions of jars: what is asked for, and which the committed lock has.
VERSIONS = {
    "clients": ("version of clients", KAFKA_PREFIX, kafka_versions),
    "streams": ("version of Kafka Streams", STREAMS_PREFIX, streams_versions),
}


def sort_settings(
    pairs: Sequence[str], scenario: Scenario, suspect: Suspect
) -> tuple[dict[str, Any], dict[str, str]]:
    """`--set` sorted out: what changes the scenario, and the suspect's own settings."""
    if suspect.name == scenario.suspect:
        _check_own(scenario, suspect)
    changed: dict[str, Any] = {}
    brokers = dict(scenario.broker_properties)
    own = {**(suspect.settings or {}), **_claimed(scenario, suspect), **scenario.settings}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"--set takes key=value; got {pair!r}")
        if key.startswith(BROKER_PREFIX):
            brokers[key.removeprefix(BROKER_PREFIX)] = value
        elif key in SETTABLE:
            changed[key] = value
        elif takes(suspect, key):
            own[key] = value
        else:
            raise unknown_name("key of --set", key, [*SETTABLE, *_known_settings(suspect)])
    return {**changed, "broker_properties": brokers}, own


def _check_own(scenario: Scenario, suspect: Suspect) -> None:
    """A name that its suspect does not know would be a wish that nobody hears of. Another suspect
    in its place may know less.
    """
    of_faults = (name for step in scenario.schedule() for name in step.settings)
    for name in (*scenario.settings, *of_faults):
        if not takes(suspect, name):
            what = f"setting of scenario {scenario.name}"
            raise unknown_name(what, name, _known_settings(suspect))


def _claimed(scenario: Scenario, suspect: Suspect) -> dict[str, str]:
    """Who can claim either guarantee claims what the scenario's own suspect does."""
    is_open = GUARANTEE in (suspect.settings or {})
    own = SUSPECTS.get(scenario.suspect)
    if is_open and own is not None and own.guarantee is Guarantee.AT_LEAST_ONCE:
        return {GUARANTEE: AT_LEAST_ONCE}
    return {}


def takes(suspect: Suspect, key: str) -> bool:
    """Whether it is a setting of this suspect's."""
    if suspect.settings is None or key in suspect.settings:
        return True
    return key.startswith(suspect.open_prefixes)


def _known_settings(suspect: Suspect) -> list[str]:
    prefixes = (BROKER_PREFIX, *suspect.open_prefixes)
    return [*(suspect.settings or {}), *(f"{prefix}<property>" for prefix in prefixes)]


def sized(settings: dict[str, str], scenario: Scenario) -> dict[str, str]:
    """ "auto" becomes a batch size that cuts an iteration's input into about sixteen batches, and
    a sum for all records what one record has of it.
    """
    batch = max(BATCH_RECORDS_MIN, scenario.records // scenario.iterations // BATCHES_WANTED)
    whole = {
        name: str(batch) if value == "auto" else _share(value, scenario.records)
        for name, value in settings.items()
    }
    for name, least in WHOLE_NUMBERS.items():
        value = whole.get(name, str(least))
        if not value.isdigit() or int(value) < least:
            raise UsageError(f"--set {name} must be a whole number from {least}; got {value!r}")
    if int(whole.get(STATE_BYTES, "0")) > STATE_BYTES_MAX:
        raise UsageError(
            f"--set {STATE_BYTES} must be at most {STATE_BYTES_MAX}, as messages of Kafka are; got"
            f" {whole[STATE_BYTES]!r} ({settings[STATE_BYTES]}): ask for more --records"
        )
    return whole


def _share(value: str, records: int) -> str:
    summed = SHARED.fullmatch(value)
    return value if summed is None else str(ceil(int(summed[1]) / records))


def check_settings(suspect: Suspect, settings: Mapping[str, str], workload: str) -> None:
    """Versions that may be, and what Kafka Streams itself is not told."""
    own = suspect.settings or {}
    for name, (what, prefix, versions) in VERSIONS.items():
        if name in own and not is_lockable(prefix + settings[name]):
            raise unknown_name(what, settings[name], versions())
    for name in SWITCHES:
        if name in own and settings[name] not in ("true", "false"):
            raise UsageError(f"--set {name} takes true or false; got {settings[name]!r}")
    if OWN_JARS in own:
        _check_streams(settings, workload)


def _check_streams(settings: Mapping[str, str], workload: str) -> None:
    if settings[WATERMARK_MS] != "0" and workload != "copy":
        raise UsageError(f"--set {WATERMARK_MS} goes with the workload copy; got {workload}")
    for name in (CACHE, DEFAULTS, STATIC):
        is_on(name, settings)
    own_streams(settings)
    check_names(own_properties(settings), "--set")
    if settings[CONFIG_FILE]:
        check_config_file(Path(settings[CONFIG_FILE]))


def streams_pairs(options: Mapping[str, str | None], suspect: Suspect) -> list[str]:
    """Options that are settings of Kafka Streams for short, as `--set` takes them."""
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in (suspect.settings or {}):
            option = "--" + name.replace("_", "-")
            raise UsageError(
                f"{option} goes with suspects of Kafka Streams; {suspect.name} is none"
            )
    return [f"{name}={value}" for name, value in given.items()]


def declared(suspect: Suspect, settings: dict[str, str]) -> Suspect:
    """A user may say of the own command whether all its output is in transactions, and whether
    the offsets its group commits are its position. Of Streams in Java a setting says the former.
    """
    if GUARANTEE in (suspect.settings or {}):
        return replace(suspect, transactional=settings[GUARANTEE] == EXACTLY_ONCE)
    if suspect.settings is not None:
        return suspect
    return replace(
        suspect,
        transactional=_said(settings, "transactional"),
        offsets_in_group=_said(settings, "offsets_in_group"),
    )


def declarations(suspect: Suspect) -> dict[str, bool | None]:
    """What it is held to, by name; `as_settings` makes them what a user says of a command."""
    return {name: getattr(suspect, name) for name in DECLARED}


def as_settings(declarations: Mapping[str, bool | None]) -> dict[str, str]:
    return {name: str(said).lower() for name, said in declarations.items() if said is not None}


def _said(settings: dict[str, str], name: str) -> bool | None:
    said = settings.pop(name, None)
    if said not in ("true", "false", None):
        raise UsageError(f"--set {name} takes true or false; got {said!r}")
    return None if said is None else said == "true"
