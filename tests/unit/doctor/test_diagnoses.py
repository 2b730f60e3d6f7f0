"""Each diagnosis on made-up looks: what is found, and what is not worth a word."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from onceproof.cluster.doors import Door
from onceproof.cluster.groups import Member
from onceproof.cluster.transactions import NamedTransaction
from onceproof.doctor import brokers, client_settings, groups, open_transactions
from onceproof.doctor.catalog import KINDS, diagnose, diagnose_client
from onceproof.doctor.diagnosis import Diagnosis, Hanging
from onceproof.doctor.draw import draw
from onceproof.doctor.seen import GroupSeen, Look, Looks, Standing, TopicCare
from onceproof.errors import UsageError
from onceproof.offsets.view import PartitionOffsets, Tail

OPEN = NamedTransaction(
    partition=0,
    producer_id=7,
    epoch=2,
    start_offset=20,
    transactional_id="orders-0",
    state="Ongoing",
    started_ms=1_000,
    timeout_ms=60_000,
)
HANGS = replace(
    OPEN, held=False, transactional_id=None, state=None, started_ms=None, timeout_ms=None
)
PARTITION = PartitionOffsets(
    topic="out",
    partition=0,
    leader=1,
    replicas=(),
    log_start=0,
    lso=20,
    hwm=30,
    position=10,
    tail=Tail(begin=0, last_record=29, last_committed=19),
)
MEMBER = Member(member_id="m-1", client_id="billing", host="/10.0.0.7", partitions=("out-0",))
GROUP = GroupSeen(group="g", state="Stable", members=(MEMBER,), partitions=(PARTITION,))


def looks(before: dict[str, Any], after: dict[str, Any]) -> Looks:
    return Looks(first=Look(at_ms=10_000, **before), second=Look(at_ms=16_000, **after))


def of_groups(before: GroupSeen, after: GroupSeen) -> Looks:
    return looks({"groups": (before,)}, {"groups": (after,)})


def of_opened(before: NamedTransaction, after: NamedTransaction, after_ms: int = 16_000) -> Looks:
    both = looks({"opened": (("out", before),)}, {"opened": (("out", after),)})
    return replace(both, second=replace(both.second, at_ms=after_ms))


def at(group: GroupSeen, **changes: Any) -> GroupSeen:
    return replace(group, partitions=(replace(group.partitions[0], **changes),))


def only(found: Iterator[Diagnosis]) -> Diagnosis:
    (one,) = found
    return one


def test_a_transaction_that_no_coordinator_holds_hangs() -> None:
    found = only(open_transactions.hanging(of_opened(HANGS, HANGS)))
    assert found.subject == "out-0"
    assert found.seen == (
        "the transaction of producer 7 epoch 2 has been open from offset 20 on for at least 6 s,"
        " and no coordinator knows of it: it never ends, and read_committed readers stop there"
    )
    assert found.cure == (
        "abort it: onceproof doctor --abort, or kafka-transactions abort --topic out --partition 0"
        " --start-offset 20"
    )
    assert found.hanging == Hanging(topic="out", partition=0, start_offset=20)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (OPEN, OPEN),  # a coordinator holds it
        (OPEN, HANGS),  # it was just ending at the second look
        (replace(HANGS, start_offset=11), HANGS),  # another one
        (replace(HANGS, partition=1), HANGS),
    ],
)
def test_one_that_ends_or_is_another_does_not_hang(
    before: NamedTransaction, after: NamedTransaction
) -> None:
    assert list(open_transactions.hanging(of_opened(before, after))) == []


@pytest.mark.parametrize(("age_s", "told"), [(89, False), (92, True)])
def test_a_transaction_far_over_its_timeout_is_overdue(age_s: int, told: bool) -> None:
    found = list(open_transactions.overdue(of_opened(OPEN, OPEN, 1_000 + 1_000 * age_s)))
    assert bool(found) is told
    if told:
        assert "transaction 'orders-0' (producer 7 epoch 2) is Ongoing for 92 s" in found[0].seen


def test_a_group_that_has_read_up_to_the_lso_is_pinned_by_what_is_open_there() -> None:
    stands = at(GROUP, position=20, open_transactions=(OPEN,))
    found = only(groups.pinned(of_groups(stands, stands)))
    assert found.subject == "group g"
    assert found.seen == (
        "it has read out-0 up to the LSO, 20, and 10 offsets wait behind it: transaction"
        " 'orders-0' (producer 7 epoch 2) pins it there; a dashboard shows a lag of 10"
    )
    assert found.cure.startswith("wait: its coordinator aborts it in 45 s at the latest")
    assert found.hanging is None
    hangs = at(stands, open_transactions=(HANGS,))
    assert only(groups.pinned(of_groups(hangs, hangs))).hanging == Hanging(
        topic="out", partition=0, start_offset=20
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"position": 10},  # there is something to read yet
        {"lso": 25},  # it moves
        {"open_transactions": ()},
        {"position": None},
    ],
)
def test_a_group_that_can_go_on_is_not_pinned(changes: dict[str, Any]) -> None:
    stands = at(GROUP, position=20, open_transactions=(OPEN,))
    assert list(groups.pinned(of_groups(stands, at(stands, **changes)))) == []


def test_positions_in_an_open_transaction_at_both_looks() -> None:
    before = replace(GROUP, pending=("in-0", "in-1"))
    after = replace(GROUP, pending=("in-1", "in-2"))
    assert (
        "its positions on in-1 are in a transaction"
        in only(groups.pending(of_groups(before, after))).seen
    )
    assert list(groups.pending(of_groups(before, GROUP))) == []


def test_a_rebalance_that_does_not_end() -> None:
    before = replace(GROUP, state="PreparingRebalance")
    after = replace(GROUP, state="CompletingRebalance")
    assert only(groups.rebalancing(of_groups(before, after))).seen == (
        "PreparingRebalance, and CompletingRebalance 6 s later, with 1 member(s): billing at"
        " 10.0.0.7: it waits for a member that does not rejoin"
    )
    assert list(groups.rebalancing(of_groups(before, GROUP))) == []


def test_a_position_that_stands_while_the_lag_grows() -> None:
    after = at(GROUP, lso=28, tail=Tail(begin=0, last_committed=27))
    assert only(groups.stalled(of_groups(GROUP, after))).seen == (
        "its position on out-0 stayed at 10 for 6 s, while the lag went from 10 to 18; it is read"
        " by billing at 10.0.0.7"
    )


@pytest.mark.parametrize(
    ("state", "changes"),
    [
        ("Stable", {"position": 11}),
        ("Stable", {"position": 20}),  # all read
        ("Empty", {}),  # another diagnosis
        ("PreparingRebalance", {}),
    ],
)
def test_a_group_that_moves_or_has_nobody_is_not_stalled(
    state: str, changes: dict[str, Any]
) -> None:
    after = replace(at(GROUP, **changes), state=state)
    assert list(groups.stalled(of_groups(GROUP, after))) == []


def test_a_lag_of_control_records_alone_is_nothing_to_read() -> None:
    read = at(GROUP, tail=Tail(begin=0, last_committed=9))
    assert list(groups.stalled(of_groups(read, read))) == []
    empty = replace(read, state="Empty", members=())
    assert list(groups.abandoned(of_groups(empty, empty))) == []


def test_a_group_without_members_and_with_something_to_read() -> None:
    empty = replace(GROUP, state="Empty", members=())
    assert only(groups.abandoned(of_groups(empty, empty))).seen == (
        "no member is left, and 1 partition(s) have something to read, out-0 the most: 10 offsets"
    )
    assert list(groups.abandoned(of_groups(empty, GROUP))) == []


def test_addresses_that_do_not_answer() -> None:
    doors = (
        Door(broker=1, address="a:1"),
        Door(broker=2, address="b:1", refusal="its name cannot be resolved here"),
        Door(broker=None, address="c:1", refusal="no connection within 3 s"),
    )
    advertised, given = brokers.unreachable(Standing(doors=doors))
    assert advertised.subject == "broker 2"
    assert advertised.seen == "broker 2 advertises b:1: its name cannot be resolved here"
    assert "advertised.listeners" in advertised.cure
    assert (given.subject, "bootstrap.servers" in given.cure) == ("c:1", True)


@pytest.mark.parametrize(
    ("replicas", "insync", "min_insync", "kind"),
    [
        (3, 3, 2, None),
        (3, 3, 1, None),
        (3, 3, 3, "fragile-topic"),
        (2, 2, 2, "fragile-topic"),
        (1, 1, 1, "fragile-topic"),
        (3, 1, 2, "too-few-in-sync"),
    ],
)
def test_what_one_brokers_loss_stops(
    replicas: int, insync: int, min_insync: int, kind: str | None
) -> None:
    topic = TopicCare(topic="t", min_insync=min_insync, partitions=((3, 3), (replicas, insync)))
    standing = Standing(topics=(topic,))
    found = [*brokers.refused_writes(standing), *brokers.fragile(standing)]
    assert [each.kind for each in found] == ([] if kind is None else [kind])


def test_topics_with_the_same_trouble_are_told_together() -> None:
    topics = tuple(TopicCare(topic=f"t{n}", min_insync=1, partitions=((1, 1),)) for n in range(7))
    found = only(brokers.fragile(Standing(topics=topics)))
    assert found.subject == "t0, t1, t2, t3, t4 and 2 more"


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({}, []),
        ({"request.timeout.ms": "299999"}, []),
        ({"request.timeout.ms": "300000"}, ["request.timeout.ms"]),
        ({"max.poll.interval.ms": "45000"}, ["default.api.timeout.ms"]),
        ({"max.poll.interval.ms": "600000", "request.timeout.ms": "300000"}, []),
    ],
)
def test_a_request_must_not_outlast_the_poll_interval(
    settings: dict[str, str], named: list[str]
) -> None:
    found = list(client_settings.late_requests(settings))
    assert [each.seen.partition("=")[0] for each in found] == named


@pytest.mark.parametrize(
    ("settings", "topics", "told"),
    [
        ({"isolation.level": "read_committed"}, ["out"], None),
        ({}, [], None),
        ({"isolation.level": "read_uncommitted"}, ["out"], "isolation.level=read_uncommitted, and"),
        ({}, ["out"], "isolation.level is not set (Java's default is read_uncommitted"),
    ],
)
def test_reading_what_may_be_aborted_yet(
    settings: dict[str, str], topics: list[str], told: str | None
) -> None:
    found = list(client_settings.dirty_reads(settings, topics))
    assert bool(found) is (told is not None)
    if told is not None:
        assert found[0].seen.startswith(told)


def test_a_setting_that_is_no_number_is_an_error_of_usage() -> None:
    with pytest.raises(UsageError, match=r"max\.poll\.interval\.ms must be a number .*; got 'x'"):
        diagnose_client({"max.poll.interval.ms": "x"}, [])


def test_every_kind_is_in_the_catalog() -> None:
    stands = at(GROUP, position=20, open_transactions=(HANGS,))
    both = of_groups(stands, stands)
    both = Looks(
        first=replace(both.first, opened=(("out", HANGS),)),
        second=replace(both.second, opened=(("out", HANGS),)),
    )
    found = diagnose(Standing(), both)
    assert [each.kind for each in found] == ["hanging-transaction", "pinned-group"]
    modules: list[Callable[..., Any] | Any] = [brokers, client_settings, groups, open_transactions]
    named = {
        value
        for module in modules
        for name, value in vars(module).items()
        if name.isupper() and isinstance(value, str) and "-" in value
    }
    assert named == set(KINDS)


def test_what_a_terminal_shows() -> None:
    found = only(open_transactions.hanging(of_opened(HANGS, HANGS)))
    text = draw([found], ["group g: broker 2 did not answer"], "looked at 3 brokers")
    assert text.splitlines() == [
        "hanging-transaction: out-0",
        "    the transaction of producer 7 epoch 2 has been open from offset 20 on for at least 6"
        " s, and no",
        "    coordinator knows of it: it never ends, and read_committed readers stop there",
        "    → abort it: onceproof doctor --abort, or kafka-transactions abort --topic out"
        " --partition 0",
        "    --start-offset 20",
        "",
        "could not be told: group g: broker 2 did not answer",
        "1 finding; looked at 3 brokers",
    ]
    assert draw([], [], "looked at 3 brokers") == "nothing found; looked at 3 brokers"
