"""When a broker loaded its part of the offsets log, as its own log tells. Pure.

    08:59:13.7 … Scheduling loading of … metadata from __consumer_offsets-2 …
    08:59:15.9 … Finished loading … metadata from __consumer_offsets-2 … in 2204 milliseconds

Both coordinators say so, the classic one and that of 4.x, each in its own words.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

_PARTITION = r"metadata from (__consumer_offsets-\d+)"
_BEGINS = re.compile(rf"^(\S+ \S+) .*Scheduling loading of .*{_PARTITION}")
_ENDS = re.compile(rf"^(\S+ \S+) .*Finished loading .*{_PARTITION} .*?\bin (\d+) ?m(?:illi)?s")


@dataclass(frozen=True, kw_only=True)
class Loading:
    partition: str
    since_unix_s: float
    until_unix_s: float | None = None  # None: it still goes on

    def lasted_s(self, now_unix_s: float) -> float:
        until = now_unix_s if self.until_unix_s is None else self.until_unix_s
        return until - self.since_unix_s


def loadings(lines: Iterable[str]) -> list[Loading]:
    """In the order in which they began."""
    found: dict[str, list[Loading]] = {}
    for line in lines:
        if "loading" not in line:
            continue
        if begins := _BEGINS.search(line):
            at, partition = begins.groups()
            found.setdefault(partition, []).append(
                Loading(partition=partition, since_unix_s=_unix_s(at))
            )
        elif ends := _ENDS.search(line):
            at, partition, took_ms = ends.groups()
            until = _unix_s(at)
            whole = Loading(
                partition=partition,
                since_unix_s=until - int(took_ms) / 1000,
                until_unix_s=until,
            )
            found[partition] = [*found.get(partition, [])[:-1], whole]
    return sorted((each for all_ in found.values() for each in all_), key=_since)


def _since(loading: Loading) -> float:
    return loading.since_unix_s


def _unix_s(at: str) -> float:
    """A broker writes the local time, and it runs on this machine."""
    return datetime.fromisoformat(at).timestamp()
