"""Every delivery mode under every fault: one cluster, one Spark, a trial a cell.

runs/compare/<utc>-s<seed>/   compare.json  compare.html  compare.txt  cells/<mode>-<fault>/<run>/
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from onceproof.history.comparison import (
    SPEED,
    CellTrial,
    Comparison,
    ModeCell,
    records_per_s,
)
from onceproof.history.event import read_events
from onceproof.history.recovery import recovery_s
from onceproof.history.run_directory import RunDirectory, ensure_runs_dir
from onceproof.history.verdict import Verdict
from onceproof.trial.about import versions
from onceproof.trial.many.compare_plan import (
    FAULTS,
    CompareRequest,
    chosen_faults,
    chosen_modes,
    plan_mode,
    repeat_command,
)
from onceproof.trial.many.premises import Premises
from onceproof.trial.many.relay import Ended, Relay
from onceproof.trial.planning.plan import Plan

COMPARE_JSON = "compare.json"
Place = tuple[str, str]  # mode and fault


@dataclass(frozen=True, kw_only=True)
class Told:
    """What a comparison tells while it goes on."""

    comparison: Comparison
    begins: str = ""
    cell: ModeCell | None = None  # just finished


class Compare:
    def __init__(
        self, request: CompareRequest, directory: Path, tell: Callable[[Told], None]
    ) -> None:
        """`directory` may hold one that was begun: what it knows is not tried again."""
        self._request = request
        self._directory = directory
        self._tell = tell
        self.comparison = self._begin()

    @property
    def path(self) -> Path:
        return self._directory / COMPARE_JSON

    def _begin(self) -> Comparison:
        if self.path.exists():
            return Comparison.load(self.path)
        return Comparison(
            seed=self._request.seed,
            modes=chosen_modes(self._request),
            faults=chosen_faults(self._request),
            told={name: FAULTS[name].told for name in chosen_faults(self._request)},
            asked=asdict(self._request),
        )

    def run(self) -> Comparison:
        """What is known stands in compare.json after each cell, whatever happens then."""
        if not self.comparison.left:
            return self.comparison
        ensure_runs_dir(self._directory)
        self.comparison.save(self.path)
        with Premises(self._directory) as premises:
            self._try_all(premises)
        return self.comparison

    def _try_all(self, premises: Premises) -> None:
        tried: list[CellTrial] = []
        for ended in Relay(premises=premises).run(self._plans(), self._begins, alone=_is_timed):
            mode, fault = ended.key
            tried.append(self._trial(ended))
            if len(tried) == self._request.repeats:
                self._add(ModeCell(mode=mode, fault=fault, trials=tuple(tried)))
                tried = []

    def _plans(self) -> Iterator[tuple[Place, Plan]]:
        """What cannot be tried is told on the way."""
        for mode, fault in self.comparison.left:
            plan = plan_mode(self._request, mode.name, fault, self._directory)
            if plan is None:
                self._add(ModeCell(mode=mode.name, fault=fault, reason=FAULTS[fault].why_not))
                continue
            known = {**self.comparison.versions, **versions(plan)}  # each mode has its own besides
            self.comparison = replace(self.comparison, versions=known)
            for _ in range(self._request.repeats):
                yield (mode.name, fault), plan

    def _begins(self, place: Place) -> None:
        """Nobody listens to the single trial."""
        self._tell(Told(comparison=self.comparison, begins=f"{place[0]} under {place[1]}"))

    def _trial(self, ended: Ended[Place]) -> CellTrial:
        if ended.result is None or ended.run is None:
            mode, fault = ended.key
            repeat = repeat_command(self._request, mode, fault)
            return CellTrial(verdict=Verdict.UNKNOWN, reason=ended.problem, repeat=repeat)
        result = ended.result
        events = list(read_events(RunDirectory(ended.run).events))
        return CellTrial(
            verdict=result.verdict,
            anomalies=result.anomalies,
            recovery_s=recovery_s(events),
            records_per_s=records_per_s(events) if _is_timed(ended.key) else None,
            duration_s=result.duration_s,
            reason="; ".join(result.reasons),
            run=str(ended.run.relative_to(self._directory)),
            repeat=result.repeat,
        )

    def _add(self, cell: ModeCell) -> None:
        self.comparison = self.comparison.with_cell(cell)
        self.comparison.save(self.path)
        self._tell(Told(comparison=self.comparison, cell=cell))


def _is_timed(place: Place) -> bool:
    return place[1] == SPEED
