"""run.json: what was run, with what, on what. Enough to repeat it; no secrets, nothing of the
user's.
"""

import json
import os
import platform
import time
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import onceproof
from onceproof.databases.catalog import DATABASES
from onceproof.files import write_json
from onceproof.history.run_directory import RunDirectory
from onceproof.jars.local_lock import is_committed
from onceproof.jars.lock import KAFKA_PREFIX, STREAMS_PREFIX, committed_lock
from onceproof.jars.own import OwnJars
from onceproof.jars.spark_jvm import CONNECTOR_SET
from onceproof.machine import find_java
from onceproof.suspects.streams.own_jars import own_streams
from onceproof.suspects.streams.properties import OWN_JARS
from onceproof.trial.judging.judge import Besides, CaseFacts
from onceproof.trial.planning.plan import Plan
from onceproof.trial.planning.settings import declarations

# A setting that chooses the library on trial: what it is, and its jars.
LIBRARIES = {
    "clients": ("kafka clients", KAFKA_PREFIX),
    "streams": ("kafka streams", STREAMS_PREFIX),
}
PACKAGES = ("pyspark", "confluent-kafka", "kafka-python")


def versions(plan: Plan) -> dict[str, str]:
    return {
        "onceproof": onceproof.__version__,
        "kafka": _of_brokers(plan),
        **_of_suspect(plan),
        **_of_database(plan),
        **{name: _installed(name) for name in PACKAGES},
        "spark connector": _connector(),
        "java": find_java().version,
        "python": platform.python_version(),
    }


def _of_brokers(plan: Plan) -> str:
    if plan.bootstrap_server is not None:
        return "not ours"
    if plan.kafka_jars is not None:
        return plan.kafka_jars.told()
    return plan.scenario.kafka + _lock_told(KAFKA_PREFIX + plan.scenario.kafka)


def _own_streams(plan: Plan) -> OwnJars | None:
    return own_streams(plan.settings) if OWN_JARS in (plan.suspect.settings or {}) else None


def _of_suspect(plan: Plan) -> dict[str, str]:
    """Of the library that is on trial, where a setting chooses it."""
    chosen = plan.suspect.settings or {}
    own = _own_streams(plan)
    if own is not None:
        return {"kafka streams": own.told()}
    return {
        name: plan.settings[key] + _lock_told(prefix + plan.settings[key])
        for key, (name, prefix) in LIBRARIES.items()
        if key in chosen
    }


def _of_database(plan: Plan) -> dict[str, str]:
    database = DATABASES.get(plan.suspect.position)
    return {} if database is None else {database.name: database.version()}


def _lock_told(jar_set: str) -> str:
    return "" if is_committed(jar_set) else " (not in the committed lock)"


def _own_jars(plan: Plan) -> dict[str, dict[str, str]]:
    """Of builds of the user's: each jar and its sha256."""
    own = {"kafka": plan.kafka_jars, "kafka streams": _own_streams(plan)}
    return {name: jars.hashes() for name, jars in own.items() if jars is not None}


def _installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _connector() -> str:
    """Its token provider may be of another version (see the lock): a reader should know."""
    artifacts = committed_lock().artifacts(CONNECTOR_SET)
    return ", ".join(
        f"{each.coordinates.split(':')[1]} {each.coordinates.split(':')[2]}"
        for each in artifacts
        if "kafka" in each.coordinates
    )


def write_run_json(directory: RunDirectory, plan: Plan, began_at: float) -> None:
    """`began_at`: wall-clock seconds; the events' own count from there."""
    scenario = plan.scenario
    about: dict[str, Any] = {
        "started_utc": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(began_at)),
        "started_unix_s": round(began_at, 6),
        "scenario": scenario.model_dump(mode="json"),
        "suspect": plan.suspect.name,
        "command": list(plan.suspect.argv) if plan.suspect.name == "command" else None,
        "declared": declarations(plan.suspect),
        "bootstrap_server": plan.bootstrap_server,
        "seed": plan.seed,
        "settings": dict(plan.settings),
        "schedule": [
            f"{' or '.join(step.actions)} {step.target} at {step.at} ({step.aim})"
            + (f" in iteration {step.iteration}" if step.iteration else "")
            for step in plan.schedule
        ],
        "versions": versions(plan),
        "own_jars": _own_jars(plan),
        "machine": {
            "system": platform.platform(),
            "cores": os.cpu_count(),
            "memory_gib": round(
                os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1024**3, 1
            ),
        },
        "repeat": plan.repeat,
    }
    write_json(directory.run_json, about)


def add_judgement(directory: RunDirectory, facts: CaseFacts, besides: Besides) -> None:
    """What the judge knew besides the data, for whoever judges this run again."""
    about = json.loads(directory.run_json.read_text(encoding="utf-8"))
    about["case"] = {**facts.to_json(), **asdict(besides)}
    write_json(directory.run_json, about)
