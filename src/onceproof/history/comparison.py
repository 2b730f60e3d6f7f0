"""Delivery modes compared: what each claims, and what each fault made of it. compare.json."""

import json
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Set
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from onceproof.files import write_json
from onceproof.history.event import Event
from onceproof.history.verdict import Verdict

SPEED = "speed"  # the column without a fault that measures records a second
UNDISTURBED = "none"  # the one without a fault and without haste
YARDSTICK = "consumer_auto_commit"  # what speeds are told relative to
STEADY = (0.1, 0.9)  # of all records: between them nothing starts and nothing ends
SAMPLES_MIN = 3
REORDERED = "reordered"
EXACTLY, AT_LEAST, AT_MOST, NONE = "exactly once", "at least once", "at most once", "none"


@dataclass(frozen=True, kw_only=True)
class Mode:
    """A suspect, what it claims, and which anomalies that allows."""

    name: str
    claims: str
    allows: tuple[str, ...] = ()
    is_liar: bool = False


@dataclass(frozen=True, kw_only=True)
class CellTrial:
    verdict: Verdict
    anomalies: Mapping[str, int] = field(default_factory=dict)
    recovery_s: float | None = None  # until its position moved on; None: it did not, or no fault
    records_per_s: float | None = None  # in the column that measures it
    duration_s: float = 0.0
    reason: str = ""
    run: str = ""  # the run directory, relative to the comparison's
    repeat: str = ""


@dataclass(frozen=True, kw_only=True)
class ModeCell:
    """One mode under one fault; no trial: that fault cannot meet that mode."""

    mode: str
    fault: str
    trials: tuple[CellTrial, ...] = ()
    reason: str = ""  # why there is no trial

    @property
    def anomalies(self) -> dict[str, int]:
        """Of all trials together."""
        counted: Counter[str] = Counter()
        for trial in self.trials:
            counted.update(trial.anomalies)
        return dict(counted)

    @property
    def broken(self) -> int:
        return sum(trial.verdict is Verdict.BROKEN for trial in self.trials)

    @property
    def unknown(self) -> int:
        return sum(trial.verdict is Verdict.UNKNOWN for trial in self.trials)

    @property
    def recovery_s(self) -> float | None:
        """The longest."""
        known = [each.recovery_s for each in self.trials if each.recovery_s is not None]
        return max(known, default=None)

    @property
    def records_per_s(self) -> float | None:
        """The median."""
        known = [each.records_per_s for each in self.trials if each.records_per_s is not None]
        return statistics.median(known) if known else None


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Cells in the order they were tried; those that are still to come are not there yet."""

    seed: int
    modes: tuple[Mode, ...] = ()
    faults: tuple[str, ...] = ()
    cells: tuple[ModeCell, ...] = ()
    told: Mapping[str, str] = field(default_factory=dict)  # fault → what happens then
    asked: Mapping[str, Any] = field(default_factory=dict)  # what the command line said
    versions: Mapping[str, str] = field(default_factory=dict)

    def with_cell(self, cell: ModeCell) -> "Comparison":
        return replace(self, cells=(*self.cells, cell))

    def cell(self, mode: str, fault: str) -> ModeCell | None:
        found = (each for each in self.cells if (each.mode, each.fault) == (mode, fault))
        return next(found, None)

    @property
    def left(self) -> list[tuple[Mode, str]]:
        pairs = ((mode, fault) for mode in self.modes for fault in self.faults)
        return [(mode, fault) for mode, fault in pairs if self.cell(mode.name, fault) is None]

    def measured(self, mode: str) -> str:
        """What is left of it after all faults; "" where that could not be told: where nothing is
        found, each trial must have told so, one with a fault among them.
        """
        cells = [each for each in self.cells if each.mode == mode and each.trials]
        found = {name for cell in cells for name in cell.anomalies}
        is_tried = any(cell.fault not in (SPEED, UNDISTURBED) for cell in cells)
        if not found and (not is_tried or any(cell.unknown for cell in cells)):
            return ""
        often = _how_often(found - {REORDERED})
        return f"{often}, {REORDERED}" if REORDERED in found else often

    def relative_speed(self, mode: str) -> float | None:
        """By auto-commit's, measured in the same comparison."""
        mine, yardstick = (self.cell(name, SPEED) for name in (mode, YARDSTICK))
        if not mine or not yardstick or not mine.records_per_s or not yardstick.records_per_s:
            return None
        return mine.records_per_s / yardstick.records_per_s

    def is_kept(self, mode: Mode, fault: str | None = None) -> bool:
        """Under that fault, or under all."""
        cells = [each for each in self.cells if each.mode == mode.name]
        found = {name for each in cells if fault in (None, each.fault) for name in each.anomalies}
        return found <= set(mode.allows)

    @property
    def exit_code(self) -> int:
        """0 each keeps what it claims (a planted liar need not), 1 one does not, 2 not known."""
        if not all(self.is_kept(mode) or mode.is_liar for mode in self.modes):
            return 1
        undecided = self.left or any(cell.unknown for cell in self.cells)
        is_tried = any(cell.trials for cell in self.cells)
        return 2 if undecided or not is_tried else 0

    def to_json(self) -> dict[str, Any]:
        return {
            **asdict(self),
            "measured": {mode.name: self.measured(mode.name) for mode in self.modes},
        }

    def save(self, path: Path) -> None:
        """In one step: one that is killed meanwhile finds the last state, not half of one."""
        write_json(path, self.to_json())

    @staticmethod
    def load(path: Path) -> "Comparison":
        data = json.loads(path.read_text(encoding="utf-8"))
        data.pop("measured")
        modes = (Mode(**{**each, "allows": tuple(each["allows"])}) for each in data.pop("modes"))
        cells = tuple(map(_cell, data.pop("cells")))
        faults = tuple(data.pop("faults"))
        return Comparison(**data, modes=tuple(modes), cells=cells, faults=faults)


def _how_often(found: Set[str]) -> str:
    if not found:
        return EXACTLY
    if found == {"duplicated"}:
        return AT_LEAST
    return AT_MOST if found == {"lost"} else NONE


def _cell(data: dict[str, Any]) -> ModeCell:
    trials = (
        CellTrial(**{**each, "verdict": Verdict(each["verdict"])}) for each in data.pop("trials")
    )
    return ModeCell(**data, trials=tuple(trials))


def records_per_s(events: Iterable[Event]) -> float | None:
    """While the middle of the input was worked on, by what is written; by the position where
    nothing is written into a topic (a table is poured into one in the end, for the judge). None: it
    was over before two samples could be taken.
    """
    samples = [event for event in events if event.kind == "progress"]
    if not samples:
        return None
    end = samples[-1].detail["position"]
    under_way = [each for each in samples if each.detail["position"] != end] or samples
    measure = "output" if any(int(each.detail["output"]) for each in under_way) else "position"
    done = [(each.at_s, int(each.detail[measure])) for each in samples]
    first, last = (share * done[-1][1] for share in STEADY)
    steady = [(at_s, count) for at_s, count in done if first <= count <= last]
    if len(steady) < SAMPLES_MIN:
        return None
    (began_s, before), (ended_s, after) = steady[0], steady[-1]
    return (after - before) / (ended_s - began_s) if after > before else None
