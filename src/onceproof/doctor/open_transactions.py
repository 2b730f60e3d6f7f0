"""Transactions that do not end: those no coordinator knows of, and those it should have ended."""

from collections.abc import Iterator

from onceproof.cluster.transactions import NamedTransaction
from onceproof.doctor.diagnosis import Diagnosis, Hanging
from onceproof.doctor.seen import Looks

HANGING, OVERDUE = "hanging-transaction", "overdue-transaction"
# A coordinator looks for expired transactions every 10 s, and then writes markers.
GRACE_S = 30.0


def hanging(looks: Looks) -> Iterator[Diagnosis]:
    """Open at both looks, and held by no coordinator at either: one that was just ending is not."""
    before = {
        (topic, each.partition, each.start_offset)
        for topic, each in looks.first.opened
        if not each.held
    }
    for topic, each in looks.opened():
        where = f"{topic}-{each.partition}"
        if not each.held and (topic, each.partition, each.start_offset) in before:
            yield Diagnosis(
                kind=HANGING,
                subject=where,
                seen=(
                    f"{whose(each)} has been open from offset {each.start_offset} on for at least"
                    f" {looks.between_s:.0f} s, and no coordinator knows of it: it never ends, and"
                    " read_committed readers stop there"
                ),
                cure=(
                    "abort it: onceproof doctor --abort, or kafka-transactions abort --topic"
                    f" {topic} --partition {each.partition} --start-offset {each.start_offset}"
                ),
                hanging=hanging_at(topic, each),
            )


def hanging_at(topic: str, opened: NamedTransaction) -> Hanging:
    return Hanging(topic=topic, partition=opened.partition, start_offset=opened.start_offset)


def overdue(looks: Looks) -> Iterator[Diagnosis]:
    for topic, each in looks.opened():
        if not each.held or each.started_ms is None or each.timeout_ms is None:
            continue
        age_s = (looks.second.at_ms - each.started_ms) / 1000
        if age_s > each.timeout_ms / 1000 + GRACE_S:
            yield Diagnosis(
                kind=OVERDUE,
                subject=f"{topic}-{each.partition}",
                seen=(
                    f"{whose(each)} is {each.state} for {age_s:.0f} s, and its timeout is"
                    f" {each.timeout_ms / 1000:.0f} s: its coordinator has not ended it"
                ),
                cure=(
                    "look at the coordinator's log and at the leaders of the transaction's"
                    " partitions: markers are written once all of them are there"
                ),
            )


def whose(opened: NamedTransaction) -> str:
    who = f"producer {opened.producer_id} epoch {opened.epoch}"
    if opened.transactional_id is None:
        return f"the transaction of {who}"
    return f"transaction {opened.transactional_id!r} ({who})"
