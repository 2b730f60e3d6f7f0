"""What many trials share: one Spark to judge with, and brokers until a trial leaves them broken.

    with Premises(directory) as premises:
        run_trial(plan, None, premises.spark, premises.stand(plan))

Logs go into `directory`, data below its `state`: dear on disk, of no use once judged, gone at the
end.
"""

import contextlib
import shutil
from pathlib import Path
from types import TracebackType

from onceproof.trial.ground import Ground, open_ground
from onceproof.trial.planning.plan import Plan
from onceproof.trial.spark import JudgeSpark


class Premises:
    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._state = directory / "state"
        self._ground: Ground | None = None
        self._spark: JudgeSpark | None = None

    @property
    def spark(self) -> JudgeSpark:
        assert self._spark is not None
        return self._spark

    def __enter__(self) -> "Premises":
        logs = self._directory / "logs"
        logs.mkdir(exist_ok=True)
        self._spark = JudgeSpark.start(logs, self._state / "judge")
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _problem: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        """Each step on its own: one that fails does not keep the others from being done."""
        with contextlib.ExitStack() as last_first:
            last_first.callback(shutil.rmtree, self._state, ignore_errors=True)
            last_first.callback(self.spark.stop)
            last_first.callback(self.leave)

    def needs_ground(self) -> bool:
        """Whether there are no brokers, or a trial has left them broken."""
        return self._ground is None or not self._ground.is_whole()

    def stand(self, plan: Plan) -> Ground:
        if self.needs_ground():
            self.leave()
        if self._ground is None:
            self._ground = open_ground(plan, self._directory)
        return self._ground

    def leave(self) -> None:
        """The next one has new brokers."""
        if self._ground is not None:
            ground, self._ground = self._ground, None
            ground.close()
