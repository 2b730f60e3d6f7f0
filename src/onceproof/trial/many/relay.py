"""Many trials on the same premises: while some are judged, the next is held.

    hold 1 ──▶ hold 2 ──▶ hold 3 ──▶ hold 4 …        a suspect mostly waits
         └─ judge 1 ───┐
                └─ judge 2 ───┐                      a judge computes
                        └─ judge 3 …

A judge reads from the brokers: before they are hit or replaced it is waited for, unless each trial
has brokers of its own. It is waited for before a trial that is timed, too. Results come in the
order of the trials.
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
from onceproof.trial.many.premises import Premises
from onceproof.trial.planning.plan import Plan
from onceproof.trial.run import Trial

JUDGED_AT_ONCE = 2  # a judgement takes longer than holding a trial of a consumer
Key = TypeVar("Key")
Listener = Callable[[Event], None]


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
    spares: Spares | None = None
    own_brokers: bool = False  # to each trial; then no more than one is judged beside the next

    def run(
        self,
        trials: Iterable[tuple[Key, Plan]],
        begins: Callable[[Key], Listener | None],
        alone: Callable[[Key], bool] = lambda _: False,
    ) -> Iterator[Ended[Key]]:
        """`begins`: told of each trial, and says who listens to it. `alone`: nothing is judged
        beside it.
        """
        judged_at_once = 1 if self.own_brokers else JUDGED_AT_ONCE
        with ThreadPoolExecutor(judged_at_once) as pool:
            judged: deque[tuple[Key, Trial, Future[TrialResult]]] = deque()

            def finish(at_most: int) -> Iterator[Ended[Key]]:
                while len(judged) > at_most:
                    key, trial, result = judged.popleft()
                    yield Ended(key=key, result=result.result(), run=trial.directory.path)

            for key, plan in trials:
                if alone(key) or self._takes_brokers_away(plan):
                    yield from finish(0)
                listener = begins(key)
                try:
                    trial = self._held(plan, listener)
                except MachineError as problem:  # the brokers that stand need not go for that
                    yield from finish(0)
                    yield Ended(key=key, problem=str(problem))
                except OnceproofError as problem:
                    yield from finish(0)
                    self.premises.leave()
                    yield Ended(key=key, problem=str(problem))
                else:
                    try:
                        yield from finish(judged_at_once - 1)
                    except BaseException:
                        trial.abandon()  # it will never be judged: nothing of it may stay
                        raise
                    judged.append((key, trial, pool.submit(trial.judge)))
            yield from finish(0)

    def _takes_brokers_away(self, plan: Plan) -> bool:
        """From those that are judged."""
        if self.own_brokers:
            return False
        return self.premises.needs_ground() or any(step.hits_brokers for step in plan.schedule)

    def _held(self, plan: Plan, listener: Listener | None) -> Trial:
        ground = None if self.own_brokers else self.premises.stand(plan)
        spark = self.premises.spark.apart()
        trial = Trial(plan, listener, spark, ground, spares=self.spares)
        trial.hold()
        return trial
