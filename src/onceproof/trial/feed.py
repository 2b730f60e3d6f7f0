"""The input of one iteration, written by Spark in a thread of its own while faults go on.

[from ──── paced ────▶ held_from] · · until the last fault is due · · [──── paced ────▶ to)
"""

import threading

from onceproof.trial.stage import Stage
from onceproof.workloads.catalog import workload_named
from onceproof.workloads.inject import inject

JOIN_S_MAX = 60.0
LOOK_EVERY_S = 0.05


class Feed:
    """Start it, ask `is_done`, and `close` it whatever happens. An error surfaces in `is_done`.

    What is held back comes after `release`, which must be called, too.
    """

    def __init__(self, stage: Stage, from_index: int, to_index: int) -> None:
        self.records = to_index - from_index
        self._stage = stage
        held = self.records * stage.plan.scenario.held_back_percent // 100
        self._first = (from_index, to_index - held)
        self._held = (to_index - held, to_index) if held else None
        self._released = threading.Event()
        self._stop = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="feed", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def release(self) -> int:
        """How many records it lets go; once they have gone, none."""
        if self._held is None or self._released.is_set():
            return 0
        self._released.set()
        return self._held[1] - self._held[0]

    def _run(self) -> None:
        try:
            self._inject(*self._first)
            if self._held:
                self._await_release()
                self._inject(*self._held)
        except BaseException as error:  # noqa: BLE001 - handed over to the trial's own thread
            self._error = error

    def _await_release(self) -> None:
        while not self._stop.is_set() and not self._released.wait(LOOK_EVERY_S):
            pass

    def _inject(self, from_index: int, to_index: int) -> None:
        stage = self._stage
        scenario = stage.plan.scenario
        inject(
            stage.spark,
            workload_named(scenario.workload),
            stage.plan.input,
            from_index,
            to_index,
            topic=stage.input_topic,
            options={"kafka.bootstrap.servers": stage.cluster.bootstrap("judge")},
            pace=scenario.pace(),
            stop=self._stop,
        )

    def is_done(self) -> bool:
        if self._error is not None:
            raise self._error
        return not self._thread.is_alive()

    def close(self) -> None:
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join(JOIN_S_MAX)
