"""Every delivery mode under every fault: one cluster, one Spark, a trial a cell.

runs/compare/<utc>-s<seed>/   compare.json  compare.html  compare.txt  cells/<mode>-<fault>/<run>/
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from onceproof.errors import MachineError, OnceproofError
from onceproof.history.comparison import CellTrial, Comparison, Mode, ModeCell, recovery_s
from onceproof.history.event import read_events
from onceproof.history.run_directory import ensure_runs_dir
from onceproof.history.verdict import Verdict
from onceproof.trial.about import versions
from onceproof.trial.compare_plan import (
    FAULTS,
    CompareRequest,
    chosen_faults,
    chosen_modes,
    plan_mode,
)
from onceproof.trial.plan import Plan
from onceproof.trial.premises import Premises
from onceproof.trial.provision import require_database
from onceproof.trial.run import run_trial

COMPARE_JSON = "compare.json"


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
            asked=asdict(self._request),
        )

    def run(self) -> Comparison:
        """What is known stands in compare.json after each cell, whatever happens then."""
        if not self.comparison.left:
            return self.comparison
        ensure_runs_dir(self._directory)
        self.comparison.save(self.path)
        with Premises(self._directory) as premises:
            for mode, fault in self.comparison.left:
                self._add(self._cell(mode, fault, premises))
        return self.comparison

    def _cell(self, mode: Mode, fault: str, premises: Premises) -> ModeCell:
        self._tell(Told(comparison=self.comparison, begins=f"{mode.name} under {fault}"))
        plan = plan_mode(self._request, mode.name, fault, self._directory)
        if plan is None:
            return ModeCell(mode=mode.name, fault=fault, reason=FAULTS[fault].why_not)
        known = {**self.comparison.versions, **versions(plan)}  # each mode has its own besides
        self.comparison = replace(self.comparison, versions=known)
        trials = tuple(self._trial(plan, premises) for _ in range(self._request.repeats))
        return ModeCell(mode=mode.name, fault=fault, trials=trials)

    def _trial(self, plan: Plan, premises: Premises) -> CellTrial:
        try:
            require_database(plan)  # the brokers that stand need not go for that
        except MachineError as problem:
            return CellTrial(verdict=Verdict.UNKNOWN, reason=str(problem), repeat=plan.repeat)
        try:
            result, run = run_trial(plan, None, premises.spark, premises.stand(plan))
        except OnceproofError as problem:
            premises.leave()
            return CellTrial(verdict=Verdict.UNKNOWN, reason=str(problem), repeat=plan.repeat)
        return CellTrial(
            verdict=result.verdict,
            anomalies={each.anomaly: each.count for each in result.findings},
            recovery_s=recovery_s(read_events(run.events)),
            duration_s=result.duration_s,
            reason="; ".join(result.reasons),
            run=str(run.path.relative_to(self._directory)),
            repeat=result.repeat,
        )

    def _add(self, cell: ModeCell) -> None:
        self.comparison = self.comparison.with_cell(cell)
        self.comparison.save(self.path)
        self._tell(Told(comparison=self.comparison, cell=cell))
