"""Open transactions with the names behind them: who writes, since when, and until when at most.

leader of the partition ──▶ producer id, first offset ─┐
transaction coordinator ──▶ transactional id, since when ┴──▶ one line for an operator
"""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from kafka.protocol.admin import DescribeTransactionsRequest

from onceproof.cluster.client import BrokerClient
from onceproof.cluster.topics import (
    ListedTransaction,
    OpenTransaction,
    list_transactions,
    open_transactions,
)


@dataclass(frozen=True, kw_only=True)
class NamedTransaction:
    """An open transaction; what its coordinator does not tell of it is None. One that no
    coordinator holds open on this partition is never ended by any: it hangs.
    """

    partition: int
    producer_id: int
    epoch: int
    start_offset: int
    transactional_id: str | None
    state: str | None
    started_ms: int | None  # since 1970
    timeout_ms: int | None
    held: bool = True  # by its coordinator


def named_open_transactions(client: BrokerClient, topic: str) -> list[NamedTransaction]:
    """By partition and first offset. A producer no coordinator knows is left by its number."""
    opened = open_transactions(client, topic)
    if not opened:
        return []
    producers = {each.producer_id for each in opened}
    listed = [each for each in list_transactions(client) if each.producer_id in producers]
    described = _describe(client, listed)
    return [_named(topic, each, listed, described) for each in opened]


def _describe(client: BrokerClient, listed: list[ListedTransaction]) -> dict[str, Any]:
    by_coordinator: dict[int, list[str]] = defaultdict(list)
    for each in listed:
        by_coordinator[each.coordinator].append(each.transactional_id)
    requests = {
        broker: DescribeTransactionsRequest(transactional_ids=names)
        for broker, names in by_coordinator.items()
    }
    return {
        state.transactional_id: state
        for answer in client.ask_many(requests).values()
        for state in answer.transaction_states
        if state.error_code == 0
    }


def _named(
    topic: str, opened: OpenTransaction, listed: list[ListedTransaction], described: dict[str, Any]
) -> NamedTransaction:
    names = (each.transactional_id for each in listed if each.producer_id == opened.producer_id)
    name = next(names, None)
    told = None if name is None else described.get(name)
    return NamedTransaction(
        partition=opened.partition,
        producer_id=opened.producer_id,
        epoch=opened.epoch,
        start_offset=opened.start_offset,
        transactional_id=name,
        state=told and told.transaction_state,
        started_ms=told and told.transaction_start_time_ms,
        timeout_ms=told and told.transaction_timeout_ms,
        held=told is not None and _holds(told, topic, opened.partition),
    )


def _holds(told: Any, topic: str, partition: int) -> bool:
    """A coordinator lists the partitions that have no marker yet, until the last one has."""
    return any(each.topic == topic and partition in each.partitions for each in told.topics)
