"""The input of one iteration, written by Spark in a thread of its own while faults go on."""

import threading

from onceproof.trial.stage import Stage
from onceproof.workloads.catalog import workload_named
from onceproof.workloads.inject import inject

JOIN_S_MAX = 60.0


class Feed:
    """Start it, ask `is_done`, and `close` it whatever happens. An error surfaces in `is_done`."""

    def __init__(self, stage: Stage, from_index: int, to_index: int) -> None:
        self.records = to_index - from_index
        self._stage = stage
        self._slice = (from_index, to_index)
        self._stop = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="feed", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def _run(self) -> None:
        stage = self._stage
        scenario = stage.plan.scenario
        try:
            inject(
                stage.spark,
                workload_named(scenario.workload),
                stage.plan.input,
                self._slice[0],
                self._slice[1],
                topic=stage.input_topic,
                options={"kafka.bootstrap.servers": stage.cluster.bootstrap("judge")},
                pace=scenario.pace(),
                stop=self._stop,
            )
        except BaseException as error:  # noqa: BLE001 - handed over to the trial's own thread
            self._error = error

    def is_done(self) -> bool:
        if self._error is not None:
            raise self._error
        return not self._thread.is_alive()

    def close(self) -> None:
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join(JOIN_S_MAX)
