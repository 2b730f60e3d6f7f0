"""Every crash point of the commit protocol against one suspect: one cluster, a trial a cell.

survey (no fault but a clean restart) ──▶ which frames the suspect sends at all
             │
             ├─ never sent ──▶ not reached: nothing was tried, nothing is said of it
             └─ sent ──▶ a trial with one fault at that frame ──▶ held, broken, unknown
                                                    unknown ──▶ tried once more

runs/sweep-<suspect>/<utc>-s<seed>/   sweep.json  sweep.html  junit.xml  cells/<cell>/<run>/
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from onceproof.errors import OnceproofError
from onceproof.faults.crash_point import CrashPoint, crash_points
from onceproof.history.event import Event
from onceproof.history.grid import Cell, Grid, Outcome
from onceproof.history.run_directory import ensure_runs_dir
from onceproof.history.verdict import TrialResult, Verdict
from onceproof.suspects.spare import Spares
from onceproof.trial.about import versions
from onceproof.trial.many.premises import Premises
from onceproof.trial.many.relay import Ended, Relay
from onceproof.trial.many.survey import Sighting, is_reached, read_sightings
from onceproof.trial.many.sweep_plan import SweepRequest, plan_cell, plan_survey
from onceproof.trial.run import run_trial

SWEEP_JSON = "sweep.json"
TRIES_MAX = 2
Listener = Callable[[Event], None]


class SurveyFailed(OnceproofError):
    """Without any fault the suspect does not hold: a sweep would say nothing."""


@dataclass(frozen=True, kw_only=True)
class Told:
    """What a sweep tells while it goes on; the grid stands as it is now."""

    grid: Grid
    cell: Cell | None = None  # just finished
    begins: str = ""  # the name of the cell, or "survey", that begins now


class Sweep:
    def __init__(
        self,
        request: SweepRequest,
        directory: Path,
        tell: Callable[[Told], None],
        listener: Listener | None = None,
    ) -> None:
        """`directory` may hold a sweep that was begun: what it knows is not tried again."""
        self._request = request
        self._directory = directory
        self._tell = tell
        self._listener = listener
        self._points = crash_points(request.only)
        self._spares: Spares | None = None
        self.grid = self._begin()

    @property
    def path(self) -> Path:
        return self._directory / SWEEP_JSON

    def _begin(self) -> Grid:
        if self.path.exists():
            return Grid.load(self.path)
        plan = plan_survey(self._request, self._directory)
        return Grid(
            suspect=plan.suspect.name,
            workload=plan.scenario.workload,
            seed=plan.seed,
            asked=asdict(self._request),
            names=tuple(point.name for point in self._points),
            versions=versions(plan),
        )

    def run(self) -> Grid:
        """What is known stands in sweep.json after each cell, whatever happens then."""
        todo = [point for point in self._points if point.name in self.grid.left]
        if not todo:
            return self.grid
        ensure_runs_dir(self._directory)
        self._save()
        with Premises(self._directory) as premises:
            try:
                self._keep_spares()
                sightings = self._survey(premises)
                reached = [point for point in todo if is_reached(point.frame, sightings)]
                for point in todo:
                    if point not in reached:
                        self._add(_not_reached(point))
                self._try_all(reached, premises)
            finally:
                if self._spares is not None:
                    self._spares.close()
        return self.grid

    def _survey(self, premises: Premises) -> set[Sighting]:
        self._tell(Told(grid=self.grid, begins="survey"))
        plan = plan_survey(self._request, self._directory)
        result, run = run_trial(plan, self._listener, premises.spark, premises.stand(plan))
        run_directory = run.path
        if result.verdict is not Verdict.HELD:
            raise SurveyFailed(
                f"{result.suspect} does not hold without any fault: {result.verdict.value}"
                f" ({'; '.join(result.reasons)}); see {run_directory / 'report.html'}"
            )
        return read_sightings(run_directory / "history" / "wire")

    def _try_all(self, points: Sequence[CrashPoint], premises: Premises) -> None:
        """An unknown cell gets another chance: a race may have hidden the frame, or a slow turn."""
        relay = Relay(premises=premises, spares=self._spares)
        for tries in range(1, TRIES_MAX + 1):
            unknown = []
            plans = ((each, plan_cell(self._request, each, self._directory)) for each in points)
            for ended in relay.run(plans, self._begins):
                cell = self._cell(ended, tries)
                if cell.outcome is Outcome.UNKNOWN and tries < TRIES_MAX:
                    unknown.append(ended.key)
                else:
                    self._add(cell)
            points = unknown

    def _begins(self, point: CrashPoint) -> Listener | None:
        self._tell(Told(grid=self.grid, begins=point.name))
        return self._listener

    def _cell(self, ended: Ended[CrashPoint], tries: int) -> Cell:
        if ended.result is None or ended.run is None:
            untold = replace(_not_reached(ended.key), outcome=Outcome.UNKNOWN, tries=tries)
            return replace(untold, reason=ended.problem)
        run = ended.run.relative_to(self._directory)
        return _cell(ended.key, ended.result, run, tries)

    def _keep_spares(self) -> None:
        """For a suspect whose start is most of a cell's time."""
        if plan_survey(self._request, self._directory).suspect.spark:
            self._spares = Spares(self._directory / "state" / "spares")

    def _add(self, cell: Cell) -> None:
        self.grid = self.grid.with_cell(cell)
        self._save()
        self._tell(Told(grid=self.grid, cell=cell))

    def _save(self) -> None:
        self.grid.save(self.path)


def _cell(point: CrashPoint, result: TrialResult, run: Path, tries: int) -> Cell:
    outcome = {
        Verdict.HELD: Outcome.HELD,
        Verdict.BROKEN: Outcome.BROKEN,
        Verdict.UNKNOWN: Outcome.UNKNOWN,
    }[result.verdict]
    return replace(
        _not_reached(point),
        outcome=outcome,
        anomalies=tuple(result.anomalies),
        reason="; ".join(result.reasons),
        run=str(run),
        repeat=result.repeat,
        duration_s=result.duration_s,
        tries=tries,
    )


def _not_reached(point: CrashPoint) -> Cell:
    return Cell(
        frame=point.frame.name,
        side=point.side,
        act=point.act.value,
        outcome=Outcome.NOT_REACHED,
        reason="the suspect sends no such frame",
    )
