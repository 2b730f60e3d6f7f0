"""Watches the checkpoint files of an instance's tasks: that one is there, and does not move.

Under exactly_once_v2 there must be none while a task runs: what RocksDB holds may be of a
transaction that is aborted later, and only a missing checkpoint has it wiped (KAFKA-20685). Since
Streams 4.3 there are no such files any more.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

FILE = ".checkpoint"
FROZEN_AFTER_S = 2.0
Tell = Callable[[str], None]
Ends = Callable[[], Mapping[str, int]]
"""Where the changelogs end, by topic-partition; open transactions count."""


class Checkpoints:
    """`look` now and then; what is new is told."""

    def __init__(
        self,
        directory: Path,
        tell: Tell,
        ends: Ends = lambda: {},
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`directory`: of the application, below its state directory."""
        self._directory = directory
        self._tell = tell
        self._ends = ends
        self._now = now
        self._seen: dict[str, tuple[str, float]] = {}  # task → offsets, and since when
        self._frozen: set[str] = set()

    def look(self, state: str) -> None:
        """`state`: of the Streams client."""
        on_disk = dict(self._read())
        for task in sorted(set(self._seen) - set(on_disk)):
            del self._seen[task]
            self._tell(f"the checkpoint of task {task} is gone")
        for task, offsets in sorted(on_disk.items()):
            if self._seen.get(task, ("", 0.0))[0] != offsets:
                self._seen[task] = (offsets, self._now())
                self._frozen.discard(task)
                self._tell(
                    f"task {task} has a checkpoint on disk: {offsets}; the client is {state}"
                )
            elif state == "RUNNING" and task not in self._frozen and self._has_stood(task):
                self._frozen.add(task)
                self._tell(
                    f"the checkpoint of task {task} has stood still for {FROZEN_AFTER_S:.0f} s"
                    f" while the client is {state}: {offsets}{self._against(offsets)}"
                )

    def _against(self, offsets: str) -> str:
        """Where the changelogs are by now that it tells of."""
        ends = [f"{name} at {end}" for name, end in self._ends().items() if f"{name} at" in offsets]
        return f"; the changelog ends by now: {', '.join(ends)}" if ends else ""

    def _has_stood(self, task: str) -> bool:
        return self._now() - self._seen[task][1] >= FROZEN_AFTER_S

    def _read(self) -> Iterator[tuple[str, str]]:
        for file in self._directory.glob(f"*/{FILE}"):
            try:
                lines = file.read_text().splitlines()
            except OSError:
                continue  # deleted just now, which is what Streams does with it
            # A version, a count, then `topic partition offset` each.
            places = (line.rsplit(" ", 2) for line in lines[2:])
            told = [f"{topic}-{partition} at {offset}" for topic, partition, offset in places]
            yield file.parent.name, ", ".join(told) or "empty"
