"""Every crash point of the commit protocol, as data: which frame, which side of the broker, what.

    frame      each api by which a pipeline reads, writes, and tells how far it is
    side       request: before the broker sees it; response: it has acted, the client does not know
    act        kill        SIGKILL, the frame is lost with its sender
               pause       SIGSTOP for longer than a transaction may last, then it goes on
               late        SIGKILL, and the request comes to the broker when a successor is there

A cell is a schedule of one fault. A response that comes late comes to nobody, so there is no such
cell.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from onceproof.errors import UsageError, unknown_name

# As Kafka's protocol goes by: find out where one is, read, write, commit, stay in the group.
FRAMES = (
    "InitProducerId",
    "OffsetFetch",
    "JoinGroup",
    "SyncGroup",
    "Heartbeat",
    "ConsumerGroupHeartbeat",
    "Fetch",
    "Fetch on *.ledger",
    "AddPartitionsToTxn",
    "Produce",
    "AddOffsetsToTxn",
    "TxnOffsetCommit",
    "OffsetCommit",
    "EndTxn",
)
SIDES = ("request", "response")
AT = "20%"
BEYOND_TIMEOUT_S = 3.0


class Act(StrEnum):
    KILL = "kill"
    PAUSE = "pause"
    LATE = "late"


@dataclass(frozen=True, kw_only=True)
class CrashPoint:
    frame: str
    side: str
    act: Act

    @property
    def name(self) -> str:
        """Part of the names of runs and topics."""
        frame = "LedgerFetch" if "ledger" in self.frame else self.frame
        return f"{frame}-{self.side}-{self.act}"

    def aim(self) -> str:
        api, on, topic = self.frame.partition(" on ")
        return f"{api} {self.side}{on}{topic}"

    def fault(self, transaction_timeout_s: float) -> dict[str, Any]:
        """An entry of a schedule."""
        paused_s = transaction_timeout_s + BEYOND_TIMEOUT_S if self.act is Act.PAUSE else 0.0
        release = {Act.KILL: "drop", Act.PAUSE: "pass", Act.LATE: "late"}[self.act]
        return {
            "action": "pause" if self.act is Act.PAUSE else "kill",
            "target": "instance:0",
            "at": AT,
            "aim": self.aim(),
            "release": release,
            "heal_after_s": paused_s,
        }


def crash_points(only: str | None = None) -> Iterator[CrashPoint]:
    """All cells, in the order of the protocol; `only`: those of one api."""
    apis = list(dict.fromkeys(frame.partition(" ")[0] for frame in FRAMES))
    if only is not None and only not in apis:
        raise unknown_name("api of a sweep", only, apis)
    for frame in FRAMES:
        if only not in (None, frame.partition(" ")[0]):
            continue
        for side in SIDES:
            for act in Act:
                if not (side == "response" and act is Act.LATE):
                    yield CrashPoint(frame=frame, side=side, act=act)


def find_crash_point(name: str) -> CrashPoint:
    for point in crash_points():
        if point.name == name:
            return point
    raise UsageError(f"there is no crash point {name!r}; they are named like EndTxn-request-kill")
