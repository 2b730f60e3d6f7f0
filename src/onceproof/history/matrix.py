"""One scenario along the versions of one part: a row a version, and which versions are bad."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from onceproof.files import write_json
from onceproof.history.verdict import Verdict

# Of the trials on a bad version: a race may be missed now and then, 18 of 20 must come.
BROKEN_SHARE_MIN = 0.9


@dataclass(frozen=True, kw_only=True)
class MatrixTrial:
    verdict: Verdict
    anomalies: Mapping[str, int] = field(default_factory=dict)  # name → count
    reason: str = ""  # of a verdict that is not HELD
    duration_s: float = 0.0
    run: str = ""  # the run directory, relative to the matrix's; none: it could not begin
    repeat: str = ""  # the command that tries this again


@dataclass(frozen=True, kw_only=True)
class MatrixRow:
    version: str
    expected: Verdict | None  # None: not known of this version
    expected_anomalies: tuple[str, ...] = ()  # of one that breaks; none: any
    trials: tuple[MatrixTrial, ...] = ()

    @property
    def verdict(self) -> Verdict | None:
        """BROKEN if it ever broke; HELD only if it always held; None: nothing was tried yet."""
        found = {trial.verdict for trial in self.trials}
        worst = (Verdict.BROKEN, Verdict.UNKNOWN, Verdict.HELD)
        return next((verdict for verdict in worst if verdict in found), None)

    @property
    def broken(self) -> int:
        """In how many trials it broke as it should: what breaks otherwise is another story."""
        return sum(self._came(trial) for trial in self.trials)

    @property
    def unknown(self) -> int:
        return sum(trial.verdict is Verdict.UNKNOWN for trial in self.trials)

    @property
    def broken_otherwise(self) -> int:
        return sum(trial.verdict is Verdict.BROKEN for trial in self.trials) - self.broken

    def _came(self, trial: MatrixTrial) -> bool:
        return trial.verdict is Verdict.BROKEN and set(self.expected_anomalies) <= set(
            trial.anomalies
        )

    @property
    def anomalies(self) -> dict[str, int]:
        """The most that any trial found of each."""
        most: Counter[str] = Counter()
        for trial in self.trials:
            most |= Counter(trial.anomalies)
        return dict(most)

    @property
    def duration_s(self) -> float:
        """Of one trial, on average."""
        return sum(trial.duration_s for trial in self.trials) / max(1, len(self.trials))

    @property
    def is_as_expected(self) -> bool:
        """A good version holds in every trial, a bad one breaks in nearly all, and as it should."""
        if self.expected is not Verdict.BROKEN:
            return self.expected in (None, self.verdict)
        named = self.expected_anomalies
        breaks_so = not named or set(self.anomalies) == set(named)
        return breaks_so and self.broken / max(1, len(self.trials)) >= BROKEN_SHARE_MIN


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """Rows from the oldest version to the newest; all are there from the beginning."""

    scenario: str
    axis: str
    ticket: str
    suspect: str
    seed: int
    repeats: int
    rows: tuple[MatrixRow, ...]

    def with_trial(self, version: str, trial: MatrixTrial) -> "Matrix":
        rows = tuple(
            replace(row, trials=(*row.trials, trial)) if row.version == version else row
            for row in self.rows
        )
        return replace(self, rows=rows)

    @property
    def first_bad(self) -> str | None:
        """None: none of them is, or it is not known of one before it."""
        for row in self.rows:
            if row.broken:
                return row.version
            if row.verdict is not Verdict.HELD:
                return None
        return None

    @property
    def is_any_bad(self) -> bool | None:
        """None: it is not known of all of them."""
        if any(row.broken for row in self.rows):
            return True
        return False if all(row.verdict is Verdict.HELD for row in self.rows) else None

    @property
    def first_good(self) -> str | None:
        """The first one that held after the last one that broke."""
        good = None
        for row in reversed(self.rows):
            if row.verdict is not Verdict.HELD:
                break
            good = row.version
        return good

    @property
    def is_finished(self) -> bool:
        return all(len(row.trials) == self.repeats for row in self.rows)

    @property
    def exit_code(self) -> int:
        """0 all as expected, 1 something is not, 2 something could not be told."""
        told = [row for row in self.rows if row.verdict not in (None, Verdict.UNKNOWN)]
        if any(not row.is_as_expected for row in told):
            return 1
        # Where nothing is expected, how often it came is the answer: k of n, all of them told.
        is_open = any(row.unknown and row.expected is None for row in self.rows)
        return 0 if len(told) == len(self.rows) and self.is_finished and not is_open else 2

    def to_json(self) -> dict[str, Any]:
        return {
            **asdict(self),
            "rows": [_row_json(row) for row in self.rows],
            "first_bad": self.first_bad,
            "first_good": self.first_good,
            "exit_code": self.exit_code,
        }


def _row_json(row: MatrixRow) -> dict[str, Any]:
    return {
        **asdict(row),
        "verdict": row.verdict,
        "anomalies": row.anomalies,
        "broken": row.broken,
        "broken_otherwise": row.broken_otherwise,
        "unknown": row.unknown,
        "of": len(row.trials),
        "duration_s": round(row.duration_s, 1),
        "as_expected": row.is_as_expected,
    }


def exit_code(matrices: Iterable[Matrix]) -> int:
    codes = {matrix.exit_code for matrix in matrices}
    return next((code for code in (1, 2) if code in codes), 0)


def save(matrices: Iterable[Matrix], path: Path) -> None:
    """In one step: whoever looks meanwhile finds the last state, not half of one."""
    write_json(path, [matrix.to_json() for matrix in matrices])
