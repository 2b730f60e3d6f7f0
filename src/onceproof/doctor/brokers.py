"""Brokers that clients cannot reach, and replication that the loss of one of them stops."""

from collections import defaultdict
from collections.abc import Callable, Iterator

from onceproof.doctor.diagnosis import Diagnosis
from onceproof.doctor.seen import Standing, TopicCare

UNREACHABLE, REFUSED_WRITES, FRAGILE = "unreachable-broker", "too-few-in-sync", "fragile-topic"
NAMES_TOLD_MAX = 5


def unreachable(standing: Standing) -> Iterator[Diagnosis]:
    for door in standing.doors:
        if door.refusal is None:
            continue
        where = "the address given" if door.broker is None else f"broker {door.broker} advertises"
        yield Diagnosis(
            kind=UNREACHABLE,
            subject=door.address if door.broker is None else f"broker {door.broker}",
            seen=f"{where} {door.address}: {door.refusal}",
            cure=(
                "take it out of bootstrap.servers: a client that tries it first waits for its"
                " whole request.timeout.ms"
                if door.broker is None
                else "let its advertised.listeners name an address that clients can reach, or"
                " open the way there; what it leads cannot be read or written from here"
            ),
        )


def refused_writes(standing: Standing) -> Iterator[Diagnosis]:
    """Already now."""
    yield from _by_topic(
        standing,
        lambda each: each.insync_min < each.min_insync,
        REFUSED_WRITES,
        lambda each: (
            f"{each.insync_min} in sync, and min.insync.replicas is {each.min_insync}: writers with"
            " acks=all are refused"
        ),
        "bring the missing brokers back; a transaction cannot be committed there meanwhile",
    )


def fragile(standing: Standing) -> Iterator[Diagnosis]:
    """As soon as one more broker is away."""
    yield from _by_topic(
        standing,
        lambda each: (
            each.min_insync <= each.insync_min and each.replicas_min <= max(1, each.min_insync)
        ),
        FRAGILE,
        _told,
        "three replicas and min.insync.replicas=2 bear the loss of one broker"
        " (kafka-reassign-partitions; kafka-configs); new topics: default.replication.factor",
    )


def _told(each: TopicCare) -> str:
    what = f"{each.replicas_min} replica(s), min.insync.replicas={each.min_insync}"
    if each.replicas_min == 1:
        return f"{what}: without its broker it can be neither read nor written"
    return f"{what}: the loss of one broker stops its writers with acks=all"


def _by_topic(
    standing: Standing,
    is_ill: Callable[[TopicCare], bool],
    kind: str,
    seen: Callable[[TopicCare], str],
    cure: str,
) -> Iterator[Diagnosis]:
    """Topics that have the same to be said of them are told together."""
    alike: dict[str, list[str]] = defaultdict(list)
    for each in standing.topics:
        if is_ill(each):
            alike[seen(each)].append(each.topic)
    for told, topics in alike.items():
        named = ", ".join(topics[:NAMES_TOLD_MAX])
        more = len(topics) - NAMES_TOLD_MAX
        subject = named if more <= 0 else f"{named} and {more} more"
        yield Diagnosis(kind=kind, subject=subject, seen=told, cure=cure)
