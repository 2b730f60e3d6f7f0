"""The fewest faults of a schedule that still break it. Pure: a trial is whatever it is handed.

    chains    a fault `at = "recovery"` means the one before it: both go, or the later one alone
    ddmin     halves, quarters, …: chains are left out as long as it still breaks
    ends      what is left of each chain loses its end, if it still breaks without it
    k of n    a race decides each trial, so "it breaks" means: in at least k of n trials

A subset of the schedule is written as the places of its faults, in order.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from onceproof.errors import UsageError
from onceproof.history.verdict import Verdict

Item = TypeVar("Item")
Subset = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Trial:
    """How one trial of a subset ended."""

    verdict: Verdict
    anomalies: tuple[str, ...] = ()
    told: str = ""  # why it could not be told


@dataclass(frozen=True, kw_only=True)
class Tally:
    """All trials of one subset."""

    trials: tuple[Trial, ...]

    @property
    def of(self) -> int:
        return len(self.trials)

    @property
    def broke(self) -> int:
        return len(self._broken())

    @property
    def untold(self) -> int:
        return sum(1 for trial in self.trials if trial.verdict is Verdict.UNKNOWN)

    @property
    def anomalies(self) -> tuple[str, ...]:
        """Of any trial that broke."""
        return tuple(sorted({name for trial in self._broken() for name in trial.anomalies}))

    @property
    def agree(self) -> bool:
        """Whether all trials that broke show the same."""
        return all(set(trial.anomalies) == set(self.anomalies) for trial in self._broken())

    def _broken(self) -> list[Trial]:
        return [trial for trial in self.trials if trial.verdict is Verdict.BROKEN]


class Repeats:
    """k of n, and no subset is tried twice. One that cannot be told did not break, and is counted.

    The first answer for a subset stays, so that the search never goes in circles.
    """

    def __init__(self, attempt: Callable[[Subset], Trial], *, needed: int, repeats: int) -> None:
        check_repeats(needed, repeats)
        self._attempt = attempt
        self._needed = needed
        self._repeats = repeats
        self._known: dict[Subset, Tally] = {}

    @property
    def trials(self) -> int:
        return sum(tally.of for tally in self._known.values())

    @property
    def untold(self) -> int:
        return sum(tally.untold for tally in self._known.values())

    def breaks(self, subset: Subset) -> bool:
        return self.tally(subset).broke >= self._needed

    def tally(self, subset: Subset) -> Tally:
        if subset not in self._known:
            self._known[subset] = self._try(subset)
        return self._known[subset]

    def _try(self, subset: Subset) -> Tally:
        """As many trials as it takes to know, and none more."""
        tally = Tally(trials=())
        while tally.broke < self._needed <= tally.broke + self._repeats - tally.of:
            tally = Tally(trials=(*tally.trials, self._attempt(subset)))
        return tally


def check_repeats(needed: int, repeats: int) -> None:
    if not 1 <= needed <= repeats:
        raise UsageError(
            "a schedule that breaks must do so in at least one trial, and in no more than are"
            f" tried; got {needed} of {repeats}"
        )


def smallest(
    faults: Sequence[Mapping[str, Any]], breaks: Callable[[Subset], bool]
) -> Subset | None:
    """A subset that breaks and cannot lose a fault; None if all of them together do not break.

    1. Without any fault: where that breaks, the faults are not to blame.
    2. All of them: where that does not break, there is nothing to shrink.
    3. ddmin over chains, then their ends, until neither finds anything more.
    """
    if breaks(()):
        return ()
    units = chains(faults)
    if not breaks(_flat(units)):
        return None
    while True:
        fewer = ddmin(units, lambda part: breaks(_flat(part)))
        shorter = _without_ends(fewer, breaks)
        if shorter == tuple(units):
            return _flat(shorter)
        units = list(shorter)


def chains(faults: Sequence[Mapping[str, Any]]) -> list[Subset]:
    """The places of the faults; each recovery with the fault that it is the recovery from."""
    found: list[Subset] = []
    for place, fault in enumerate(faults):
        if found and fault["at"] == "recovery":
            found[-1] = (*found[-1], place)
        else:
            found.append((place,))
    return found


def ddmin(items: Sequence[Item], breaks: Callable[[Sequence[Item]], bool]) -> tuple[Item, ...]:
    """Zeller and Hildebrandt's minimizing delta debugging. `items` as a whole must break.

    The answer breaks, and no longer does without any one of its items. It is never empty.
    """
    kept, parts = tuple(items), 2
    while len(kept) > 1:
        cut = _cut(kept, parts)
        alone = next((part for part in cut if breaks(part)), None)
        if alone is not None:
            kept, parts = alone, 2
            continue
        rests = [_rest(cut, left_out) for left_out in range(len(cut))] if parts > 2 else []
        rest = next((rest for rest in rests if breaks(rest)), None)
        if rest is not None:
            kept, parts = rest, parts - 1
        elif parts < len(kept):
            parts = min(2 * parts, len(kept))
        else:
            break
    return kept


def _cut(items: tuple[Item, ...], parts: int) -> list[tuple[Item, ...]]:
    bounds = [len(items) * place // parts for place in range(parts + 1)]
    return [items[bounds[place] : bounds[place + 1]] for place in range(parts)]


def _rest(cut: Sequence[tuple[Item, ...]], left_out: int) -> tuple[Item, ...]:
    return tuple(item for place, part in enumerate(cut) if place != left_out for item in part)


def _without_ends(units: Sequence[Subset], breaks: Callable[[Subset], bool]) -> tuple[Subset, ...]:
    """Each chain as short as it can be; of every chain its first fault stays."""
    kept = list(units)
    for place, chain in enumerate(units):
        for length in range(1, len(chain)):
            shorter = [*kept[:place], chain[:length], *kept[place + 1 :]]
            if breaks(_flat(shorter)):
                kept = shorter
                break
    return tuple(kept)


def _flat(units: Sequence[Subset]) -> Subset:
    return tuple(place for unit in units for place in unit)
