"""Processes of a suspect that is slow to start, begun before anybody needs one.

    spawn ──▶ JVM, session, a first query ──▶ waits at its door ──▶ told who it is ──▶ an instance

Up to its door a spare knows no address and no topic: it has said nothing to any broker. Then it is
what any start would have made, only sooner.
"""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from onceproof.errors import ProcessError
from onceproof.process import Child, spawn
from onceproof.suspects.environment import DOOR_VARIABLE, Assignment, contract, for_process

# What a spare is begun with, and must be the same for the instance it becomes.
Identity = tuple[object, ...]


class Spare:
    def __init__(self, child: Child, door: Path) -> None:
        self.child = child
        self._door = door

    def become(self, name: str, log: Path) -> Child:
        """From here on it has that name and that log; it still waits."""
        log.parent.mkdir(parents=True, exist_ok=True)
        self.child.log.replace(log)  # it goes on writing, wherever the file is
        self.child.log = log
        self.child.name = name
        return self.child

    def open_door(self, assignment: Assignment, instance: int) -> None:
        told = self._door.with_suffix(".part")
        told.write_text(json.dumps(contract(assignment, instance)))
        told.replace(self._door)


class Spares:
    """One at a time; the next is begun when one is taken. `close` it, whatever happens."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.absolute()
        self._begun = 0
        self._waiting: tuple[Identity, Spare] | None = None

    def take(self, argv: Sequence[str], assignment: Assignment) -> Spare | None:
        """One that was begun alike and still runs, if there is any."""
        wanted = _identity(argv, assignment)
        waiting, self._waiting = self._waiting, None
        found = None
        if waiting is not None:
            identity, spare = waiting
            if identity == wanted and spare.child.is_running():
                found = spare
            else:
                spare.child.kill()
        self._begin(argv, assignment)
        return found

    def close(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting[1].child.kill()

    def _begin(self, argv: Sequence[str], assignment: Assignment) -> None:
        self._begun += 1
        place = self._folder / f"spare-{self._begun}"
        nobody = replace(
            assignment,
            bootstrap_servers="",
            input_topic="",
            output_topic="",
            app_id="spare",
            state_root=place,
        )
        nobody.state_dir(0).mkdir(parents=True)
        door = place / "door.json"
        environment = for_process(nobody, 0) | {DOOR_VARIABLE: str(door)}
        with suppress(ProcessError):  # then there is none, and an instance is started as ever
            child = spawn("spare", argv, log=place / "spare.log", environment=environment)
            self._waiting = _identity(argv, assignment), Spare(child, door)


def _identity(argv: Sequence[str], assignment: Assignment) -> Identity:
    of = assignment
    settings = tuple(sorted(of.settings.items()))
    return (tuple(argv), settings, of.spark_classpath, of.spark_java_options)
