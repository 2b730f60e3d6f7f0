"""Asks the brokers for all that a diagnosis rests on. What one question cannot tell is noted, and
the others are asked all the same: a doctor is called when not everything answers.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from kafka.protocol.admin import DescribeConfigsRequest

from onceproof.cluster.client import BrokerClient
from onceproof.cluster.doors import try_doors
from onceproof.cluster.groups import group_members, list_groups, pending_positions
from onceproof.cluster.transactions import NamedTransaction, named_open_transactions
from onceproof.deadline import Deadline
from onceproof.doctor.seen import GroupSeen, Look, Standing, TopicCare
from onceproof.errors import ClusterError, OnceproofError, UsageError
from onceproof.offsets.read import NAMES_TOLD_MAX, read_offsets

LOOK_S_MAX = 60.0
MIN_INSYNC = "min.insync.replicas"
UNKNOWN = "unknown"
_TOPIC_RESOURCE = 2
Answer = TypeVar("Answer")


class Asking:
    """The questions of one look. One to a broker that is away takes its time: all of them together
    have a limit, and those that come after it are not asked.
    """

    def __init__(self, client: BrokerClient) -> None:
        self.client = client
        self._deadline = Deadline(LOOK_S_MAX)
        self._failed: list[str] = []
        self._unasked = 0

    def ask(self, what: str, question: Callable[[], Answer]) -> Answer | None:
        if self._deadline.expired():
            self._unasked += 1
            return None
        try:
            return question()
        except OnceproofError as error:
            self._failed.append(f"{what}: {error}")
            return None

    def untold(self) -> tuple[str, ...]:
        more = f"{self._unasked} more questions: this look took over {LOOK_S_MAX:.0f} s already"
        return (*self._failed, *([more] if self._unasked else []))


def read_standing(client: BrokerClient, more_addresses: tuple[str, ...] = ()) -> Standing:
    topics = sorted(client.metadata(None).topics, key=lambda each: str(each.name))
    told = _min_insync(client, [each.name for each in topics])
    return Standing(
        doors=try_doors(client, more_addresses),
        topics=_care(topics, told),
        untold=tuple(
            f"{MIN_INSYNC} of {topic}: {why}" for topic, why in told.items() if isinstance(why, str)
        ),
    )


def _care(topics: Sequence[Any], min_insync: Mapping[str, int | str]) -> tuple[TopicCare, ...]:
    return tuple(
        TopicCare(
            topic=each.name,
            min_insync=needed,
            partitions=tuple(
                (len(partition.replica_nodes), len(partition.isr_nodes))
                for partition in each.partitions
            ),
        )
        for each in topics
        if each.partitions and isinstance(needed := min_insync.get(each.name), int)
    )


def _min_insync(client: BrokerClient, topics: Sequence[str]) -> dict[str, int | str]:
    """By topic; a text: why it could not be told."""
    resource: Any = DescribeConfigsRequest.DescribeConfigsResource
    asked = [
        resource(resource_type=_TOPIC_RESOURCE, resource_name=each, configuration_keys=[MIN_INSYNC])
        for each in topics
    ]
    answer = client.ask_any(DescribeConfigsRequest(resources=asked, max_version=3))
    return {
        each.resource_name: int(each.configs[0].value) if each.configs else each.error_message
        for each in answer.results
    }


def choose_groups(client: BrokerClient, wanted: Sequence[str]) -> tuple[list[str], list[str]]:
    """Those wanted, or all there are; and what could not be told about that."""
    try:
        known = list(list_groups(client))
    except ClusterError as error:
        return list(wanted), [f"groups: {error}"]
    for each in wanted:
        if each not in known:
            told = ", ".join(known[:NAMES_TOLD_MAX]) or "none"
            raise UsageError(f"no group {each!r} at {client.bootstrap_server}; there: {told}")
    return list(wanted) or known, []


def look(client: BrokerClient, groups: Sequence[str]) -> Look:
    asking = Asking(client)
    at_ms = int(time.time() * 1000)
    names = [each.name for each in client.metadata(None).topics]
    opened = tuple(_opened(asking, sorted(names)))
    seen = tuple(_group(asking, each) for each in groups)
    return Look(at_ms=at_ms, opened=opened, groups=seen, untold=asking.untold())


def _opened(asking: Asking, topics: Sequence[str]) -> Iterator[tuple[str, NamedTransaction]]:
    """Kafka's own topics, too: one that hangs in the offsets log is the worst."""
    for topic in topics:
        question = partial(named_open_transactions, asking.client, topic)
        for each in asking.ask(f"transactions on {topic}", question) or ():
            yield topic, each


def _group(asking: Asking, group: str) -> GroupSeen:
    what, client = f"group {group}", asking.client
    view = asking.ask(what, partial(read_offsets, client, (), group))
    place = None if view is None else view.group
    return GroupSeen(
        group=group,
        state=UNKNOWN if place is None else place.state,
        members=asking.ask(what, partial(group_members, client, group)) or (),
        partitions=() if view is None else view.partitions,
        pending=asking.ask(what, partial(pending_positions, client, group)) or (),
    )


def transactional_topics(client: BrokerClient, group: str | None) -> list[str]:
    """Those the group reads (all of ours, without one) whose log shows transactions."""
    view = read_offsets(client, (), group)
    return sorted(
        {
            each.topic
            for each in view.partitions
            if each.tail.control_records or each.open_transactions
        }
    )
