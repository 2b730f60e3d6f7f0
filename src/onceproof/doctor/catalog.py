"""Every diagnosis by its name, and all of them made of what was seen. Pure."""

from collections.abc import Mapping, Sequence

from onceproof.doctor import brokers, client_settings, groups, open_transactions
from onceproof.doctor.diagnosis import Diagnosis
from onceproof.doctor.seen import Looks, Standing

KINDS = {
    open_transactions.HANGING: "open on a partition, and no coordinator knows of it",
    open_transactions.OVERDUE: "open far longer than its timeout",
    groups.PINNED: "at the LSO, which an open transaction holds",
    groups.PENDING: "its positions are in a transaction that is open",
    groups.REBALANCING: "waits for a member that does not rejoin",
    groups.STALLED: "has something to read, and its position stands",
    groups.ABANDONED: "has something to read, and no member",
    brokers.UNREACHABLE: "an address that clients are sent to does not answer",
    brokers.REFUSED_WRITES: "fewer replicas in sync than min.insync.replicas",
    brokers.FRAGILE: "the loss of one broker stops it",
    client_settings.LATE_REQUEST: "request.timeout.ms as long as max.poll.interval.ms",
    client_settings.DIRTY_READ: "read_uncommitted behind a transactional writer",
}
OF_LOOKS = (
    open_transactions.hanging,
    open_transactions.overdue,
    groups.pinned,
    groups.pending,
    groups.rebalancing,
    groups.stalled,
    groups.abandoned,
)
OF_STANDING = (brokers.unreachable, brokers.refused_writes, brokers.fragile)


def diagnose(standing: Standing, looks: Looks) -> list[Diagnosis]:
    """The worst first: what stops readers, then what stops writers, then what may."""
    return [
        *(found for look_at in OF_LOOKS for found in look_at(looks)),
        *(found for look_at in OF_STANDING for found in look_at(standing)),
    ]


def diagnose_client(
    settings: Mapping[str, str], transactional_topics: Sequence[str]
) -> list[Diagnosis]:
    return [
        *client_settings.late_requests(settings),
        *client_settings.dirty_reads(settings, transactional_topics),
    ]
