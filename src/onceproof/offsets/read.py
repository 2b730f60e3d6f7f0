"""Asks the brokers for every number of a view. It only asks: nothing is written, created or moved.

positions ─▶ LSO ─▶ HWM ─▶ replicas' ends      each grows while we ask: in this order no lag is
                                               negative, and no end is before a watermark
"""

from collections.abc import Mapping, Sequence

from onceproof.cluster import topics
from onceproof.cluster.client import BrokerClient
from onceproof.cluster.groups import Positions, group_positions, list_groups
from onceproof.cluster.offset_commits import TOPIC as OFFSETS_LOG
from onceproof.cluster.offset_commits import partition_of
from onceproof.cluster.rawlog import read_headers
from onceproof.cluster.replicas import replication
from onceproof.cluster.roles import group_coordinator, partition_leaders
from onceproof.cluster.transactions import named_open_transactions
from onceproof.errors import ClusterError, OnceproofError, UsageError
from onceproof.offsets.view import GroupPlace, OffsetsView, PartitionOffsets, Tail, tail_of

TAIL_OFFSETS = 1_000
TAIL_GROWTH = 32
TAIL_S_MAX = 5.0  # a leader that moves is waited for so long
NAMES_TOLD_MAX = 10


def read_offsets(
    client: BrokerClient, asked_topics: Sequence[str] = (), group: str | None = None
) -> OffsetsView:
    """Of the topics named; else of those the group has read; else of all that are not Kafka's."""
    # Before anything is asked of a coordinator: that question alone would create the offsets log.
    state = None if group is None else _state_of(client, group)
    known = _topics(client)
    for name in asked_topics:
        if name not in known:
            raise _not_there(client, "topic", name, [each for each in known if not known[each]])
    positions: Positions = {} if group is None else group_positions(client, group)
    place = None if group is None or state is None else _place(client, group, state)
    ours = [each for each, is_internal in known.items() if not is_internal]
    names = asked_topics or (sorted(positions) if group is not None else ours)
    return OffsetsView(
        partitions=tuple(
            each
            for name in names
            if name in known
            for each in _topic_while_it_is_there(client, name, positions.get(name, {}))
        ),
        group=place,
        gone=tuple(name for name in names if name not in known),
    )


def _topic_while_it_is_there(
    client: BrokerClient, topic: str, positions: Mapping[int, int]
) -> list[PartitionOffsets]:
    """A question that fails is told by its own words, unless its topic has gone meanwhile."""
    try:
        return _topic(client, topic, positions)
    except OnceproofError as error:
        if topic in _topics(client):
            raise
        raise ClusterError(
            f"topic {topic!r} was deleted while its offsets were asked for; ask again"
        ) from error


def _topics(client: BrokerClient) -> dict[str, bool]:
    """Every topic, and whether it is Kafka's own."""
    found = client.metadata(None).topics
    return {each.name: each.is_internal for each in sorted(found, key=lambda each: each.name)}


def _state_of(client: BrokerClient, group: str) -> str:
    groups = list_groups(client)
    if group not in groups:
        raise _not_there(client, "group", group, groups)
    return groups[group]


def _not_there(
    client: BrokerClient, what: str, name: str, known: Sequence[str] | Mapping[str, str]
) -> UsageError:
    shown = list(known)[:NAMES_TOLD_MAX]
    more = f" and {len(known) - len(shown)} more" if len(known) > len(shown) else ""
    told = f"{', '.join(shown)}{more}" if shown else "none"
    return UsageError(
        f"no {what} {name!r} at {client.bootstrap_server}, or none that this user may see;"
        f" there: {told}"
    )


def _place(client: BrokerClient, group: str, state: str) -> GroupPlace:
    leaders = partition_leaders(client, OFFSETS_LOG)
    number = partition_of(group, len(leaders))
    return GroupPlace(
        group=group,
        state=state,
        log_partition=number,
        log_partitions=len(leaders),
        log_leader=leaders[number],
        coordinator=group_coordinator(client, group),
    )


def _topic(
    client: BrokerClient, topic: str, positions: Mapping[int, int]
) -> list[PartitionOffsets]:
    starts = topics.start_offsets(client, topic)
    opened = named_open_transactions(client, topic)
    stable = topics.stable_offsets(client, topic)
    ends = topics.end_offsets(client, topic)
    replicas = replication(client, topic)
    return [
        PartitionOffsets(
            topic=topic,
            partition=partition,
            leader=replicas[partition].leader,
            replicas=replicas[partition].replicas,
            log_start=start,
            lso=stable[partition],
            hwm=ends[partition],
            position=positions.get(partition),
            open_transactions=tuple(each for each in opened if each.partition == partition),
            tail=_tail(client, (topic, partition), (start, stable[partition], ends[partition])),
        )
        for partition, start in starts.items()
    ]


def last_committed(client: BrokerClient, topic: str) -> dict[int, int]:
    """The offset of the last record that a read_committed reader gets, where there is one."""
    starts, stable = topics.start_offsets(client, topic), topics.stable_offsets(client, topic)
    tails = {
        partition: _tail(client, (topic, partition), (start, stable[partition], stable[partition]))
        for partition, start in starts.items()
    }
    return {
        number: tail.last_committed
        for number, tail in tails.items()
        if tail.last_committed is not None
    }


def _tail(client: BrokerClient, where: tuple[str, int], bounds: tuple[int, int, int]) -> Tail:
    """Further and further back, until a record is found that a read_committed reader gets."""
    topic, partition = where
    start, lso, hwm = bounds
    reach = TAIL_OFFSETS
    while True:
        begin = max(start, hwm - reach)
        headers = read_headers(client, topic, partition, begin, TAIL_S_MAX)
        known = (header for header in headers if header.last_offset < hwm)
        tail = tail_of(partition, begin, known, lso)
        if tail.last_committed is not None or begin == start:
            return tail
        reach *= TAIL_GROWTH
