"""Every crash point of the commit protocol, as data: which frame, which side of the broker, what.

    frame      each api by which a pipeline reads, writes, and tells how far it is; and two by which
               brokers carry that out among themselves
    side       request: before the broker sees it; response: it has acted, the client does not know
    act        kill        SIGKILL, the frame is lost with its sender
               disconnect  the connection is cut, the frame is lost, its sender goes on
               pause       SIGSTOP for longer than a transaction may last, then it goes on; a
                           request of its arrives only then
               late        SIGKILL, and the request comes to the broker when a successor is there

A cell is a schedule of one fault. A response that comes late comes to nobody, so there is no such
cell. Of a frame between brokers the sender is a broker: that one is killed, paused, cut off.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from onceproof.errors import unknown_name

SIDES = ("request", "response")
AT = "20%"
BEYOND_TIMEOUT_S = 1.5


class Act(StrEnum):
    KILL = "kill"
    DISCONNECT = "disconnect"
    PAUSE = "pause"
    LATE = "late"


@dataclass(frozen=True, kw_only=True)
class FrameKind:
    """A row of the grid."""

    name: str
    api: str
    topic: str | None = None
    at_start: bool = False  # a client sends it when it starts, and perhaps never again
    sender: str = "instance:0"

    @property
    def between_brokers(self) -> bool:
        return self.sender.startswith("broker:")


# As Kafka's protocol goes by: find out where one is, read, write, commit, stay in the group.
FRAMES = (
    FrameKind(name="InitProducerId", api="InitProducerId", at_start=True),
    FrameKind(name="JoinGroup", api="JoinGroup", at_start=True),
    FrameKind(name="SyncGroup", api="SyncGroup", at_start=True),
    FrameKind(name="OffsetFetch", api="OffsetFetch", at_start=True),
    FrameKind(name="Heartbeat", api="Heartbeat"),
    FrameKind(name="ConsumerGroupHeartbeat", api="ConsumerGroupHeartbeat"),
    FrameKind(name="Fetch", api="Fetch"),
    FrameKind(name="LedgerFetch", api="Fetch", topic="*.ledger"),
    FrameKind(name="AddPartitionsToTxn", api="AddPartitionsToTxn"),
    FrameKind(name="Produce", api="Produce"),
    FrameKind(name="AddOffsetsToTxn", api="AddOffsetsToTxn"),
    FrameKind(name="TxnOffsetCommit", api="TxnOffsetCommit"),
    FrameKind(name="OffsetCommit", api="OffsetCommit"),
    FrameKind(name="EndTxn", api="EndTxn"),
    FrameKind(
        name="WriteTxnMarkers", api="WriteTxnMarkers", sender="broker:transaction_coordinator"
    ),
    FrameKind(name="ReplicaFetch", api="Fetch", topic="*-out", sender="broker:random"),
)
FRAME_NAMES = tuple(frame.name for frame in FRAMES)


@dataclass(frozen=True, kw_only=True)
class CrashPoint:
    frame: FrameKind
    side: str
    act: Act

    @property
    def name(self) -> str:
        """Part of the names of runs and topics."""
        return f"{self.frame.name}-{self.side}-{self.act}"

    def aim(self) -> str:
        on = f" on {self.frame.topic}" if self.frame.topic else ""
        return f"{self.frame.api} {self.side}{on}"

    def fault(self, transaction_timeout_s: float) -> dict[str, Any]:
        """An entry of a schedule."""
        # What a paused one had sent comes to the broker when its time is over, or never in time.
        late = self.act is Act.LATE or (self.act is Act.PAUSE and self.side == "request")
        release = "drop" if self.act is Act.KILL else "late" if late else "pass"
        return {
            "action": "kill" if self.act is Act.LATE else self.act.value,
            "target": self.frame.sender,
            "at": AT,
            "aim": self.aim(),
            "release": release,
            "restart_first": self.frame.at_start,
            "heal_after_s": (
                transaction_timeout_s + BEYOND_TIMEOUT_S if self.act is Act.PAUSE else 0.0
            ),
        }


def crash_points(only: str | None = None) -> list[CrashPoint]:
    """All cells, in the order of the protocol; `only`: those of one frame, or a single cell."""
    points = list(_all_points())
    if only is None:
        return points
    chosen = [point for point in points if only in (point.frame.name, point.name)]
    if not chosen:
        names = (*FRAME_NAMES, *(point.name for point in points))
        raise unknown_name("crash point", only, names)
    return chosen


def _all_points() -> Iterator[CrashPoint]:
    for frame in FRAMES:
        for side in SIDES:
            for act in Act:
                if not (side == "response" and act is Act.LATE):
                    yield CrashPoint(frame=frame, side=side, act=act)
