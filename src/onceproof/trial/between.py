"""Judges what there is between two iterations, in a thread, while the next one begins.

The suspect had caught up when the position was taken; what it writes after that is judged next
time.
"""

import threading

from onceproof.trial.judge import CaseFacts, Judged, judge_run
from onceproof.trial.readback import read_back
from onceproof.trial.stage import Stage


class BetweenJudge:
    """One judgement at a time; an error in it surfaces in `is_broken`."""

    def __init__(self, stage: Stage, facts: CaseFacts) -> None:
        self._stage = stage
        self._facts = facts
        self._thread: threading.Thread | None = None
        self._judged: Judged | None = None
        self._error: BaseException | None = None

    def start(self, iteration: int, position: dict[int, int] | None) -> None:
        self._thread = threading.Thread(
            target=self._run, args=(iteration, position), name="between", daemon=True
        )
        self._thread.start()

    def _run(self, iteration: int, position: dict[int, int] | None) -> None:
        try:
            read_back(self._stage, position, whole_log=False)
            self._judged = judge_run(self._stage.spark, self._stage.directory, self._facts)
        except BaseException as error:  # noqa: BLE001 - handed over to the trial's own thread
            self._error = error
            return
        found = len(self._judged.judgement.findings)
        told = f"iteration {iteration}: {found} findings" if found else f"iteration {iteration}: ok"
        self._stage.events.write("note", "judge", text=told)

    def is_broken(self) -> bool:
        """Wait for the judgement that was started last, if any: has it found anything?"""
        if self._thread is not None:
            self._thread.join()
        if self._error is not None:
            raise self._error
        return self._judged is not None and bool(self._judged.judgement.findings)
