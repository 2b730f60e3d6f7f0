"""Judges what there is between two iterations, in a thread, while the next one begins.

The suspect had caught up when the position was taken; what it writes after that is judged next
time.
"""

import threading

from onceproof.errors import DeadlineExpired
from onceproof.trial.judging.judge import CaseFacts, Judged, judge_run
from onceproof.trial.readback import read_back
from onceproof.trial.stage import Stage

JUDGE_S_MAX = 600.0


class BetweenJudge:
    """One judgement at a time. It can only stop a loop early: the verdict is the last judge's."""

    def __init__(self, stage: Stage, facts: CaseFacts) -> None:
        self._stage = stage
        self._facts = facts
        self._thread: threading.Thread | None = None
        self._judged: Judged | None = None

    def start(self, iteration: int, position: dict[int, int] | None) -> None:
        self._thread = threading.Thread(
            target=self._run, args=(iteration, position), name="between", daemon=True
        )
        self._thread.start()

    def _run(self, iteration: int, position: dict[int, int] | None) -> None:
        try:
            read_back(self._stage, position, whole_log=False)
            self._judged = judge_run(self._stage.spark, self._stage.directory, self._facts)
        except Exception as error:  # noqa: BLE001 - brokers may be away: the last judgement counts
            self._stage.events.write("note", "judge", text=f"iteration {iteration}: {error}"[:500])
            return
        found = len(self._judged.judgement.findings)
        told = f"{found} findings" if found else "ok"
        self._stage.events.write("note", "judge", text=f"iteration {iteration}: {told}")

    def finish(self) -> None:
        """Wait for the judgement that was started last, if any."""
        if self._thread is not None:
            self._thread.join(JUDGE_S_MAX)
            if self._thread.is_alive():
                raise DeadlineExpired(f"a judgement takes longer than {JUDGE_S_MAX:.0f} s")

    def is_broken(self) -> bool:
        """Whether the last judgement that could be made has found anything."""
        return self._judged is not None and bool(self._judged.judgement.findings)
