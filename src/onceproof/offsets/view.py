"""The offsets of a partition, and what they mean. Pure: numbers in, lags and sentences out.

log start          position             LSO              HWM    LEO of a replica
   │                   │                 │                │      │
   ▼                   ▼                 ▼                ▼      ▼
   0 1 2 3 4 5 6 C 8 9 10 11 C 13 14 15 [16 17 18 ? 20 21 ]22 23
                       └─ read_committed ┘                │
                       └─ read_uncommitted ───────────────┘
C: a control record, which ends a transaction and takes an offset that no reader ever sees
[ ]: behind the first open transaction
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from onceproof.cluster.batches import BatchHeader, Outcome, judge
from onceproof.cluster.replicas import Replica
from onceproof.cluster.transactions import NamedTransaction

VISIBLE = (Outcome.COMMITTED, Outcome.NONE)


@dataclass(frozen=True, kw_only=True)
class Tail:
    """The end of a log, read batch by batch from offset `begin` on."""

    begin: int
    control_records: int = 0
    last_record: int | None = None  # the last that is data, whatever becomes of it
    last_committed: int | None = None  # the last that read_committed readers get


@dataclass(frozen=True, kw_only=True)
class PartitionOffsets:
    """`position` None: the group has committed none here, or no group was asked for."""

    topic: str
    partition: int
    leader: int
    replicas: tuple[Replica, ...]
    log_start: int
    lso: int
    hwm: int
    tail: Tail
    position: int | None = None
    open_transactions: tuple[NamedTransaction, ...] = ()

    @property
    def lag_read_uncommitted(self) -> int | None:
        return None if self.position is None else max(0, self.hwm - self.position)

    @property
    def lag_read_committed(self) -> int | None:
        return None if self.position is None else max(0, self.lso - self.position)

    @property
    def has_unread(self) -> bool | None:
        """Whether read_committed would give a record now: a lag may be control records alone."""
        if self.position is None:
            return None
        return self.tail.last_committed is not None and self.tail.last_committed >= self.position

    @property
    def deleted_unread(self) -> int:
        """Offsets that retention took away before the group was there."""
        return 0 if self.position is None else max(0, self.log_start - self.position)

    @property
    def pins(self) -> tuple[NamedTransaction, ...]:
        """The open transactions that hold the LSO where it is: those that began there."""
        return tuple(each for each in self.open_transactions if each.start_offset == self.lso)

    def to_json(self) -> dict[str, Any]:
        return {
            **asdict(self),
            "lag_read_uncommitted": self.lag_read_uncommitted,
            "lag_read_committed": self.lag_read_committed,
            "has_unread": self.has_unread,
            "deleted_unread": self.deleted_unread,
        }


@dataclass(frozen=True, kw_only=True)
class GroupPlace:
    """Where a group lives. Its partition of the offsets log is computed as Kafka does it; the
    broker that leads that partition and the one that answers for the group are asked for apart.
    """

    group: str
    state: str
    log_partition: int
    log_partitions: int
    log_leader: int
    coordinator: int

    @property
    def agrees(self) -> bool:
        return self.log_leader == self.coordinator


@dataclass(frozen=True, kw_only=True)
class OffsetsView:
    """All that was asked for, as it stood within one turn of questions."""

    partitions: tuple[PartitionOffsets, ...] = field(default=())
    group: GroupPlace | None = None
    gone: tuple[str, ...] = ()  # topics that the group has positions in, and that are deleted

    def to_json(self) -> dict[str, Any]:
        group = None if self.group is None else {**asdict(self.group), "agrees": self.group.agrees}
        return {
            "group": group,
            "partitions": [each.to_json() for each in self.partitions],
            "gone": list(self.gone),
        }


def tail_of(partition: int, begin: int, headers: Iterable[BatchHeader], lso: int) -> Tail:
    """A batch's marker comes after it: whatever the tail holds can be judged by the tail alone."""
    whole = list(headers)
    data = [each for each in whole if not each.control]
    committed = [
        each.last_offset
        for each in judge(partition, whole)
        if each.outcome in VISIBLE and each.last_offset < lso
    ]
    return Tail(
        begin=begin,
        control_records=sum(each.records for each in whole if each.control),
        last_record=max((each.last_offset for each in data), default=None),
        last_committed=max(committed, default=None),
    )
