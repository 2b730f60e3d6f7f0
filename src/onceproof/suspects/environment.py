"""The environment contract: what every suspect is told, in any language. Fixed, see README."""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from onceproof.deadline import pause

SETTINGS_VARIABLE = "ONCEPROOF_SETTINGS"
SPARK_CLASSPATH_VARIABLE = "ONCEPROOF_SPARK_CLASSPATH"
SPARK_JAVA_OPTIONS_VARIABLE = "ONCEPROOF_SPARK_JAVA_OPTIONS"
DATABASE_VARIABLE = "ONCEPROOF_DATABASE"  # the address of the one made for it, if any
DOOR_VARIABLE = "ONCEPROOF_DOOR"  # a spare's: the file that will tell it who it is
DOOR_POLL_S = 0.02


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """What one run gives to all instances of its suspect."""

    bootstrap_servers: str
    input_topic: str
    output_topic: str
    app_id: str
    workload: str
    state_root: Path
    transaction_timeout_ms: int
    settings: Mapping[str, str] = field(default_factory=dict)
    spark_classpath: str = ""
    spark_java_options: str = ""
    database: str = ""

    def state_dir(self, instance: int) -> Path:
        return self.state_root / f"instance-{instance}"


def contract(assignment: Assignment, instance: int) -> dict[str, str]:
    return {
        "ONCEPROOF_BOOTSTRAP_SERVERS": assignment.bootstrap_servers,
        "ONCEPROOF_INPUT_TOPIC": assignment.input_topic,
        "ONCEPROOF_OUTPUT_TOPIC": assignment.output_topic,
        "ONCEPROOF_APP_ID": assignment.app_id,
        "ONCEPROOF_INSTANCE": str(instance),
        "ONCEPROOF_STATE_DIR": str(assignment.state_dir(instance)),
        "ONCEPROOF_TRANSACTION_TIMEOUT_MS": str(assignment.transaction_timeout_ms),
        "ONCEPROOF_WORKLOAD": assignment.workload,
        SETTINGS_VARIABLE: json.dumps(dict(assignment.settings)),
        SPARK_CLASSPATH_VARIABLE: assignment.spark_classpath,
        SPARK_JAVA_OPTIONS_VARIABLE: assignment.spark_java_options,
        DATABASE_VARIABLE: assignment.database,
    }


def is_spare() -> bool:
    """Runs in the suspect."""
    return DOOR_VARIABLE in os.environ


def wait_at_the_door(gives_up: Callable[[], bool]) -> None:
    """Runs in the suspect: until it is told its part of the contract; at once if it was."""
    if not is_spare():
        return
    door = Path(os.environ.pop(DOOR_VARIABLE))
    while not door.exists() and not gives_up():
        pause(DOOR_POLL_S)
    if door.exists():
        os.environ.update(json.loads(door.read_text()))


def for_process(assignment: Assignment, instance: int) -> dict[str, str]:
    """The whole environment of an instance: ours, and the contract on top."""
    package_root = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, (package_root, os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path, **contract(assignment, instance)}
