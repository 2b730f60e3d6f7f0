"""A scenario on one version after the other, each as often as asked for, in one Spark session.

AxisPlan ──▶ version × repeat ──▶ trial ──▶ MatrixTrial ──▶ Matrix ──▶ matrix.json, after each

runs/matrix-<scenario>/<utc>-s<seed>/   matrix.json  matrix.html  matrix.txt  versions/<version>/…
Where only the suspect's version changes, one cluster serves all; else each trial has its own.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from onceproof.errors import OnceproofError
from onceproof.history.matrix import Matrix, MatrixRow, MatrixTrial, save
from onceproof.history.run_directory import RunDirectory, ensure_runs_dir
from onceproof.history.verdict import TrialResult, Verdict
from onceproof.trial.axis import BROKERS, AxisPlan, VersionPlan
from onceproof.trial.premises import Premises
from onceproof.trial.run import run_trial

MATRIX_JSON = "matrix.json"


@dataclass(frozen=True, kw_only=True)
class Told:
    """What a matrix tells while it goes on."""

    matrix: Matrix
    version: str
    number: int  # of the trial on this version, from 1
    trial: MatrixTrial | None = None  # None: it begins


class MatrixRun:
    def __init__(
        self,
        axes: Sequence[AxisPlan],
        directory: Path,
        *,
        repeats: int,
        tell: Callable[[Told], None],
    ) -> None:
        self._axes = axes
        self._directory = directory
        self._repeats = repeats
        self._tell = tell
        self.matrices = [_empty(axis, repeats) for axis in axes]

    def run(self) -> list[Matrix]:
        """What is known stands in matrix.json after each trial, whatever happens then."""
        ensure_runs_dir(self._directory)
        with Premises(self._directory) as premises:
            for place, axis in enumerate(self._axes):
                try:
                    for at in axis.versions:
                        for number in range(1, self._repeats + 1):
                            self._try(place, axis, at, number, premises)
                finally:
                    premises.leave()
        return self.matrices

    def _try(
        self, place: int, axis: AxisPlan, at: VersionPlan, number: int, premises: Premises
    ) -> None:
        self._tell(Told(matrix=self.matrices[place], version=at.version, number=number))
        try:
            ground = None if axis.axis == BROKERS else premises.stand(at.plan)
            trial = self._told(*run_trial(at.plan, None, premises.spark, ground))
        except OnceproofError as problem:
            premises.leave()
            trial = MatrixTrial(verdict=Verdict.UNKNOWN, reason=str(problem), repeat=at.plan.repeat)
        self.matrices[place] = matrix = self.matrices[place].with_trial(at.version, trial)
        save(self.matrices, self._directory / MATRIX_JSON)
        self._tell(Told(matrix=matrix, version=at.version, number=number, trial=trial))

    def _told(self, result: TrialResult, run: RunDirectory) -> MatrixTrial:
        return MatrixTrial(
            verdict=result.verdict,
            anomalies={finding.anomaly: finding.count for finding in result.findings},
            reason="; ".join(result.reasons),
            duration_s=result.duration_s,
            run=str(run.path.relative_to(self._directory)),
            repeat=result.repeat,
        )


def _empty(axis: AxisPlan, repeats: int) -> Matrix:
    first = axis.versions[0].plan
    return Matrix(
        scenario=axis.scenario.name,
        axis=axis.axis,
        ticket=axis.scenario.ticket,
        suspect=first.suspect.name,
        seed=first.seed,
        repeats=repeats,
        rows=tuple(MatrixRow(version=at.version, expected=at.expected) for at in axis.versions),
    )
