"""A scenario on one version after the other, each as often as asked for, in one Spark session.

AxisPlan ──▶ version × repeat ──▶ trial ──▶ MatrixTrial ──▶ Matrix ──▶ matrix.json, after each

runs/matrix-<scenario>/<utc>-s<seed>/   matrix.json, .html, .txt, .md  versions/<version>/…
Where only the suspect's version changes, one cluster serves all; else each trial has its own. While
one is judged, the next is held.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from onceproof.history.matrix import Matrix, MatrixRow, MatrixTrial, save
from onceproof.history.run_directory import ensure_runs_dir
from onceproof.history.verdict import Verdict
from onceproof.trial.many.axis import BROKERS, AxisPlan, VersionPlan
from onceproof.trial.many.premises import Premises
from onceproof.trial.many.relay import Ended, Relay
from onceproof.trial.planning.plan import Plan

MATRIX_JSON = "matrix.json"


@dataclass(frozen=True, kw_only=True)
class Told:
    """What a matrix tells while it goes on."""

    matrix: Matrix
    version: str
    number: int  # of the trial on this version, from 1
    trial: MatrixTrial | None = None  # None: it begins


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One trial: which version, and for the how many-th time."""

    at: VersionPlan
    number: int


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
                    self._run_axis(place, axis, premises)
                finally:
                    premises.leave()
        return self.matrices

    def _run_axis(self, place: int, axis: AxisPlan, premises: Premises) -> None:
        def begins(turn: Turn) -> None:
            matrix, version = self.matrices[place], turn.at.version
            self._tell(Told(matrix=matrix, version=version, number=turn.number))

        relay = Relay(premises=premises, own_brokers=axis.axis == BROKERS)
        for ended in relay.run(self._turns(axis), begins):
            turn, trial = ended.key, self._told(ended)
            matrix = self.matrices[place].with_trial(turn.at.version, trial)
            self.matrices[place] = matrix
            save(self.matrices, self._directory / MATRIX_JSON)
            version = turn.at.version
            self._tell(Told(matrix=matrix, version=version, number=turn.number, trial=trial))

    def _turns(self, axis: AxisPlan) -> Iterator[tuple[Turn, Plan]]:
        for at in axis.versions:
            for number in range(1, self._repeats + 1):
                yield Turn(at=at, number=number), at.plan

    def _told(self, ended: Ended[Turn]) -> MatrixTrial:
        result = ended.result
        if result is None or ended.run is None:
            repeat = ended.key.at.plan.repeat
            return MatrixTrial(verdict=Verdict.UNKNOWN, reason=ended.problem, repeat=repeat)
        return MatrixTrial(
            verdict=result.verdict,
            anomalies=result.anomalies,
            reason="; ".join(result.reasons),
            duration_s=result.duration_s,
            run=str(ended.run.relative_to(self._directory)),
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
        rows=tuple(
            MatrixRow(
                version=at.version,
                expected=at.expected,
                expected_anomalies=axis.scenario.expect_anomalies,
            )
            for at in axis.versions
        ),
    )
