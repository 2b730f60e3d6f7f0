"""Many trials on the same premises: while some are judged, the next is held.

    hold 1 ──▶ hold 2 ──▶ hold 3 ──▶ hold 4 …        a suspect mostly waits
         └─ judge 1 ───┐
                └─ judge 2 ───┐                      a judge computes
                        └─ judge 3 …

A judge reads from the brokers: before they are hit or replaced it is waited for. So it is before a
trial that is timed. Results come in the order of the trials.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from onceproof.errors import MachineError, OnceproofError
from onceproof.history.event import Event
from onceproof.history.verdict import TrialResult
from onceproof.suspects.spare import Spares
from onceproof.trial.plan import Plan
from onceproof.trial.premises import Premises
from onceproof.trial.run import Trial

JUDGED_AT_ONCE = 2  # a judgement takes longer than holding a trial of a consumer
Key = TypeVar("Key")


@dataclass(frozen=True, kw_only=True)
class Ended(Generic[Key]):
    """One trial; without a result it could not even begin, for the reason told."""

    key: Key
    result: TrialResult | None = None
    run: Path | None = None
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class Relay:
    premises: Premises
    listener: Callable[[Event], None] | None = None
    spares: Spares | None = None

    def run(
        self,
        trials: Iterable[tuple[Key, Plan]],
        begins: Callable[[Key], None],
        alone: Callable[[Key], bool] = lambda _: False,
    ) -> Iterator[Ended[Key]]:
        """`alone`: nothing is judged beside it."""
        with ThreadPoolExecutor(JUDGED_AT_ONCE) as pool:
            judged: deque[tuple[Key, Trial, Future[TrialResult]]] = deque()

            def finish(at_most: int) -> Iterator[Ended[Key]]:
                while len(judged) > at_most:
                    key, trial, result = judged.popleft()
                    yield Ended(key=key, result=result.result(), run=trial.directory.path)

            for key, plan in trials:
                hits_brokers = any(step.hits_brokers for step in plan.schedule)
                if hits_brokers or alone(key) or self.premises.needs_ground():
                    yield from finish(0)
                begins(key)
                try:
                    trial = self._held(plan)
                except MachineError as problem:  # the brokers that stand need not go for that
                    yield from finish(0)
                    yield Ended(key=key, problem=str(problem))
                except OnceproofError as problem:
                    yield from finish(0)
                    self.premises.leave()
                    yield Ended(key=key, problem=str(problem))
                else:
                    yield from finish(JUDGED_AT_ONCE - 1)
                    judged.append((key, trial, pool.submit(trial.judge)))
            yield from finish(0)

    def _held(self, plan: Plan) -> Trial:
        ground = self.premises.stand(plan)
        spark = self.premises.spark.apart()
        trial = Trial(plan, self.listener, spark, ground, spares=self.spares)
        trial.hold()
        return trial
