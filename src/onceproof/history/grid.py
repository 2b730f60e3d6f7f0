"""A sweep's outcome: one cell for each crash point; and sweep.json, from which a sweep resumes."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from onceproof.files import write_json


class Outcome(StrEnum):
    HELD = "held"
    BROKEN = "broken"
    UNKNOWN = "unknown"
    NOT_REACHED = "not reached"  # the suspect never sends such a frame: nothing was tried


@dataclass(frozen=True, kw_only=True)
class Cell:
    frame: str
    side: str
    act: str
    outcome: Outcome
    anomalies: tuple[str, ...] = ()
    reason: str = ""  # of an outcome that is not `held`
    run: str = ""  # the run directory, relative to the sweep's
    repeat: str = ""  # the command that tries this cell again
    duration_s: float = 0.0
    tries: int = 1

    @property
    def name(self) -> str:
        return f"{self.frame}-{self.side}-{self.act}"

    @property
    def was_run(self) -> bool:
        return self.outcome is not Outcome.NOT_REACHED


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Cells in the order of the protocol; those that are still to come are not there yet."""

    suspect: str
    workload: str
    seed: int
    asked: Mapping[str, Any] = field(default_factory=dict)  # what the command line said
    names: tuple[str, ...] = ()  # of all cells that belong to it
    cells: tuple[Cell, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)

    def with_cell(self, cell: Cell) -> "Grid":
        """In place of one of the same name, if there is one."""
        cells = {each.name: each for each in self.cells} | {cell.name: cell}
        ordered = tuple(cells[name] for name in self.names if name in cells)
        return Grid(**{**_fields(self), "cells": ordered})

    def cell(self, name: str) -> Cell | None:
        return next((each for each in self.cells if each.name == name), None)

    def counts(self) -> dict[Outcome, int]:
        counted = Counter(cell.outcome for cell in self.cells)
        return {outcome: counted[outcome] for outcome in Outcome}

    @property
    def left(self) -> tuple[str, ...]:
        known = {cell.name for cell in self.cells}
        return tuple(name for name in self.names if name not in known)

    @property
    def exit_code(self) -> int:
        """0 all that was reached held, 1 something is broken, 2 something could not be told."""
        counts = self.counts()
        if counts[Outcome.BROKEN]:
            return 1
        undecided = counts[Outcome.UNKNOWN] or self.left or not counts[Outcome.HELD]
        return 2 if undecided else 0

    def to_json(self) -> dict[str, Any]:
        return {
            **_fields(self),
            "cells": [asdict(cell) for cell in self.cells],
            "counts": {outcome.value: count for outcome, count in self.counts().items()},
        }

    def save(self, path: Path) -> None:
        """In one step: a sweep that is killed meanwhile finds the last state, not half of one."""
        write_json(path, self.to_json())

    @staticmethod
    def load(path: Path) -> "Grid":
        data = json.loads(path.read_text(encoding="utf-8"))
        data.pop("counts")
        cells = [
            {**cell, "outcome": Outcome(cell["outcome"]), "anomalies": tuple(cell["anomalies"])}
            for cell in data.pop("cells")
        ]
        return Grid(
            **{**data, "names": tuple(data["names"])}, cells=tuple(Cell(**cell) for cell in cells)
        )


def _fields(grid: Grid) -> dict[str, Any]:
    return {name: getattr(grid, name) for name in Grid.__dataclass_fields__}
