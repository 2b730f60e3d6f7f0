"""Groups that get no further: held back by a transaction, in a rebalance, stalled, or left alone.

Whether a member polls is known to itself alone. From outside it shows as a rebalance that waits for
it, as a group that it has left, or as positions that stand while there is something to read.
"""

from collections.abc import Iterator

from onceproof.cluster.transactions import NamedTransaction
from onceproof.doctor.diagnosis import Diagnosis
from onceproof.doctor.open_transactions import hanging_at, whose
from onceproof.doctor.seen import GroupSeen, Looks, partition_pairs
from onceproof.offsets.view import PartitionOffsets

PINNED, PENDING = "pinned-group", "pending-offsets"
REBALANCING, STALLED, ABANDONED = "stuck-rebalance", "stalled-group", "abandoned-group"
REBALANCES = ("PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling")
EMPTY = "Empty"


def pinned(looks: Looks) -> Iterator[Diagnosis]:
    """At the LSO, with more behind it, and the same transaction there at both looks."""
    for before, after in looks.groups():
        for earlier, each in partition_pairs(before, after):
            stands = each.lso == earlier.lso and each.position is not None
            if stands and each.pins and each.lag_read_committed == 0:
                yield _pinned(looks, after, each, each.pins[0])


def _pinned(
    looks: Looks, group: GroupSeen, each: PartitionOffsets, pin: NamedTransaction
) -> Diagnosis:
    waiting = each.hwm - each.lso
    return Diagnosis(
        kind=PINNED,
        subject=f"group {group.group}",
        seen=(
            f"it has read {each.topic}-{each.partition} up to the LSO, {each.lso}, and {waiting}"
            f" offsets wait behind it: {whose(pin)} pins it there; a dashboard shows a lag of"
            f" {each.lag_read_uncommitted}"
        ),
        cure=_end_of(pin, looks.second.at_ms),
        hanging=None if pin.held else hanging_at(each.topic, pin),
    )


def _end_of(pin: NamedTransaction, now_ms: int) -> str:
    if not pin.held:
        return "the transaction hangs: see there"
    if pin.started_ms is None or pin.timeout_ms is None:
        return "find its producer: it must commit or abort"
    left_s = max(0.0, (pin.started_ms + pin.timeout_ms - now_ms) / 1000)
    return (
        f"wait: its coordinator aborts it in {left_s:.0f} s at the latest; if it is this long each"
        " time, let its producer commit more often or give it a shorter transaction.timeout.ms"
    )


def pending(looks: Looks) -> Iterator[Diagnosis]:
    for before, after in looks.groups():
        both = [each for each in after.pending if each in before.pending]
        if both:
            yield Diagnosis(
                kind=PENDING,
                subject=f"group {after.group}",
                seen=(
                    f"its positions on {', '.join(both)} are in a transaction that is open: a"
                    " consumer that starts now waits for its end (UNSTABLE_OFFSET_COMMIT)"
                ),
                cure=(
                    "start the writer again: its init_transactions aborts what it left; otherwise"
                    " it ends by its transaction.timeout.ms"
                ),
            )


def rebalancing(looks: Looks) -> Iterator[Diagnosis]:
    for before, after in looks.groups():
        if before.state in REBALANCES and after.state in REBALANCES:
            yield Diagnosis(
                kind=REBALANCING,
                subject=f"group {after.group}",
                seen=(
                    f"{before.state}, and {after.state} {looks.between_s:.0f} s later, with"
                    f" {_told_members(after)}: it waits for a member that does not rejoin"
                ),
                cure=(
                    "a member is over its max.poll.interval.ms, or busy in its assignment"
                    " callback; the rebalance ends when it polls or when that interval is over:"
                    " do less between two polls, or raise the interval"
                ),
            )


def stalled(looks: Looks) -> Iterator[Diagnosis]:
    """Something to read at the first look, and nothing read of it until the second."""
    for before, after in looks.groups():
        if after.state == EMPTY or after.state in REBALANCES:
            continue
        for earlier, each in partition_pairs(before, after):
            if earlier.has_unread and each.has_unread and each.position == earlier.position:
                yield _stalled(looks, after, earlier, each)


def _stalled(
    looks: Looks, group: GroupSeen, earlier: PartitionOffsets, each: PartitionOffsets
) -> Diagnosis:
    where = f"{each.topic}-{each.partition}"
    owners = [str(member) for member in group.members if where in member.partitions]
    return Diagnosis(
        kind=STALLED,
        subject=f"group {group.group}",
        seen=(
            f"its position on {where} stayed at {each.position} for {looks.between_s:.0f} s, while"
            f" the lag went from {earlier.lag_read_committed} to {each.lag_read_committed}; it is"
            f" read by {', '.join(owners) or 'a member that could not be told'}"
        ),
        cure=(
            "look longer (--between-s) if it commits less often; else see what that member does:"
            " past max.poll.interval.ms it is put out of the group, and its work comes again"
        ),
    )


def abandoned(looks: Looks) -> Iterator[Diagnosis]:
    for before, after in looks.groups():
        if before.state != EMPTY or after.state != EMPTY:
            continue
        unread = [each for each in after.partitions if each.has_unread]
        if unread:
            most = max(unread, key=lambda each: each.lag_read_committed or 0)
            yield Diagnosis(
                kind=ABANDONED,
                subject=f"group {after.group}",
                seen=(
                    f"no member is left, and {len(unread)} partition(s) have something to read,"
                    f" {most.topic}-{most.partition} the most: {most.lag_read_committed} offsets"
                ),
                cure=(
                    "start its consumers; were they put out for their max.poll.interval.ms, their"
                    " logs say so. If nobody needs it: kafka-consumer-groups --delete"
                ),
            )


def _told_members(group: GroupSeen) -> str:
    if not group.members:
        return "members that could not be told"
    return f"{len(group.members)} member(s): {', '.join(map(str, group.members))}"
