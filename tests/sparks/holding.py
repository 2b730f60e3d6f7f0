"""Holds a process (SIGSTOP) at a moment in which its own transaction is open on an output topic.

Seen from outside the moment is over before a signal arrives: so it is stopped when a transaction is
open, looked at again once those of others have had time to end, and let go on if it was too late.
"""

import contextlib
import os
import signal
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from onceproof.cluster import topics
from onceproof.cluster.client import BrokerClient
from onceproof.cluster.topics import OpenTransaction
from onceproof.deadline import Deadline, pause

LOOK_S_MAX = 60.0
GLANCE_S = 0.5
TURN_S = 0.002
# Others' transactions end within this, while the held process stands still.
SETTLE_S = 0.8
Open = frozenset[tuple[str, OpenTransaction]]


@dataclass(frozen=True, kw_only=True)
class Held:
    """A process that stands still, and its open transaction on each partition it has written to."""

    pid: int
    transactions: Open
    client: BrokerClient

    def is_fenced(self) -> bool:
        """Whether somebody else has ended its transaction."""
        return not self.transactions & _open(self.client, self.topics())

    def topics(self) -> set[str]:
        return {topic for topic, _ in self.transactions}

    def let_go_on(self) -> None:
        _signal(self.pid, signal.SIGCONT)

    def kill(self) -> None:
        _signal(self.pid, signal.SIGKILL)


def hold_while_writing(
    candidates: Callable[[], Iterable[int]], client: BrokerClient, output: Iterable[str]
) -> Held:
    deadline = Deadline(LOOK_S_MAX)
    while not deadline.expired():
        for pid in candidates():
            seen = _next_open(client, output)
            if not seen or not _signal(pid, signal.SIGSTOP):
                continue
            if seen & _open(client, output):
                pause(SETTLE_S)
                still_open = seen & _open(client, output)
                if still_open:
                    return Held(pid=pid, transactions=still_open, client=client)
            _signal(pid, signal.SIGCONT)
    raise AssertionError(f"no process was seen writing to {output} for {LOOK_S_MAX:.0f} s")


def _next_open(client: BrokerClient, output: Iterable[str]) -> Open:
    """Looks for a short while only: the candidates change meanwhile."""
    glance = Deadline(GLANCE_S)
    while not glance.expired():
        found = _open(client, output)
        if found:
            return found
        pause(TURN_S)
    return frozenset()


def _open(client: BrokerClient, output: Iterable[str]) -> Open:
    return frozenset(
        (topic, transaction)
        for topic in output
        for transaction in topics.open_transactions(client, topic)
    )


def _signal(pid: int, number: signal.Signals) -> bool:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
        return True
    return False
