"""Invariants of the wire: for each a guilty history, an innocent twin, and an expected takeover."""

from typing import Any

from frames import BEGAN_AT_S, Wire
from histories import asked, came, case_of, event, sentences
from pyspark.sql import SparkSession

from onceproof.checks.judge import judge

OUT = ("out", 0, 401)
FENCED = 47  # INVALID_PRODUCER_EPOCH
TOLD_WITHOUT_OFFSETS = (
    "a (producer 1, epoch 3) committed output from out-0@401 on (Produce: 1) and no offsets with "
    "it; after a crash its input is read again: commit-without-offsets."
)


def told(spark: SparkSession, check: str, wire: Wire, **more: Any) -> list[str]:
    facts: dict[str, Any] = {
        "transactional": True,
        "offsets_in_group": True,
        "began_at_s": BEGAN_AT_S,
        "events": [event(0, "started", "instance 0"), event(0, "started", "instance 1")],
        **more,
    }
    case = case_of(spark, [asked("a-0", 0)], [came("a-0", 401)], frames=wire.rows, **facts)
    return sentences(case, check)


# commit-without-offsets


def test_output_is_committed_and_its_offsets_are_not(spark: SparkSession) -> None:
    wire = Wire()
    wire.produce(1, OUT, 3)
    wire.end(2, 3)
    assert told(spark, "commit-without-offsets", wire) == [TOLD_WITHOUT_OFFSETS]


def test_offsets_the_broker_refused_are_not_in_the_transaction(spark: SparkSession) -> None:
    wire = Wire()
    wire.produce(1, OUT, 3)
    wire.offsets(1.5, ("in", 0, 7), 3, error=25)
    wire.end(2, 3)
    assert told(spark, "commit-without-offsets", wire) == [TOLD_WITHOUT_OFFSETS]


def test_offsets_belong_to_the_transaction_they_were_sent_in(spark: SparkSession) -> None:
    wire = Wire()
    wire.offsets(0.5, ("in", 0, 5), 3)
    wire.end(0.8, 3)
    wire.produce(1, OUT, 3)
    wire.end(2, 3)
    wire.produce(3, ("out", 0, 402), 3)
    wire.offsets(3.5, ("in", 0, 7), 3)
    wire.end(4, 3)
    assert told(spark, "commit-without-offsets", wire) == [TOLD_WITHOUT_OFFSETS]


def test_a_transaction_with_its_offsets_is_whole_however_its_end_goes(spark: SparkSession) -> None:
    wire = Wire()
    wire.produce(1, OUT, 3)
    wire.offsets(1.5, ("in", 0, 7), 3, lost=True)  # may have arrived
    wire.end(2, 3, lost=True)
    wire.end(3, 3)  # the same end once more: nothing was written in between
    assert told(spark, "commit-without-offsets", wire) == []


def test_what_is_aborted_or_no_output_needs_no_offsets(spark: SparkSession) -> None:
    wire = Wire()
    wire.produce(1, OUT, 3)
    wire.end(2, 3, commit=False)
    wire.produce(3, ("changelog", 0, 5), 3)
    wire.end(4, 3)
    wire.end(5, 3)  # empty
    wire.produce(6, OUT, 3, error=FENCED)
    wire.end(7, 3, error=FENCED)
    assert told(spark, "commit-without-offsets", wire) == []


def test_a_takeover_does_not_mix_two_epochs(spark: SparkSession) -> None:
    wire = Wire()
    wire.produce(1, OUT, 3)
    wire.offsets(1.5, ("in", 0, 7), 3)
    wire.init(1.6, "a", 4, instance=1)
    wire.produce(1.7, ("out", 1, 9), 4, instance=1)
    wire.end(2, 3, error=FENCED)
    wire.offsets(2.5, ("in", 0, 7), 4, instance=1)
    wire.end(3, 4, instance=1)
    assert told(spark, "commit-without-offsets", wire) == []


def test_an_epoch_that_every_end_bumps_is_still_one_transaction(spark: SparkSession) -> None:
    """KIP-890: the answer to EndTxn hands out the next epoch; that is not the one it ends."""
    wire = Wire()
    wire.produce(1, OUT, 3)
    wire.offsets(1.5, ("in", 0, 7), 3)
    wire.end(2, 3, answer={"producer_epoch": 4})
    wire.produce(3, ("out", 0, 402), 4)
    wire.end(4, 4, answer={"producer_epoch": 5})
    assert told(spark, "commit-without-offsets", wire) == [
        "a (producer 1, epoch 4) committed output from out-0@402 on (Produce: 1) and no offsets "
        "with it; after a crash its input is read again: commit-without-offsets."
    ]


# unguarded-offset-commit

UNGUARDED: dict[str, Any] = {"member": "", "generation": -1}


def test_a_partition_goes_over_and_nothing_guards_it(spark: SparkSession) -> None:
    wire = Wire()
    wire.offsets(1, ("in", 0, 120), 3, **UNGUARDED)
    wire.offsets(2, ("in", 0, 140), 0, name="b", producer=2, instance=1)
    assert told(spark, "unguarded-offset-commit", wire, offsets_in_group=None) == [
        "a committed in-0@120 without member and generation, then b 140; a late commit of the "
        "first would not have been refused: unguarded-offset-commit."
    ]


def test_old_requests_cannot_name_a_member(spark: SparkSession) -> None:
    wire = Wire()
    wire.offsets(1, ("in", 0, 120), 3, member=None, generation=None)
    wire.offsets(2, ("in", 0, 140), 0, name="b", producer=2, member=None, generation=None)
    assert len(told(spark, "unguarded-offset-commit", wire)) == 1


def test_a_partition_that_goes_over_with_its_member_is_guarded(spark: SparkSession) -> None:
    wire = Wire()
    wire.offsets(1, ("in", 0, 120), 3)
    wire.offsets(2, ("in", 0, 140), 0, name="b", producer=2, instance=1, generation=5)
    wire.offsets(3, ("in", 0, 160), 3, error=22)  # the zombie, refused
    assert told(spark, "unguarded-offset-commit", wire) == []


def test_a_partition_that_keeps_its_transactional_id_is_fenced_by_it(spark: SparkSession) -> None:
    """Also when the instance is another: that is what a transactional id is for."""
    wire = Wire()
    wire.offsets(1, ("in", 0, 120), 3, **UNGUARDED)
    wire.offsets(2, ("in", 1, 50), 0, name="b", producer=2, **UNGUARDED)
    wire.init(3, "a", 4, instance=1)
    wire.offsets(4, ("in", 0, 140), 4, instance=1, **UNGUARDED)
    assert told(spark, "unguarded-offset-commit", wire) == []


# deleted-unread


def delete(wire: Wire, at: float, topic: str, up_to: int, **more: Any) -> None:
    wire.ask(at, "DeleteRecords", places=[(topic, 0, up_to)], **more)


def commit(wire: Wire, at: float, topic: str, offset: int, **more: Any) -> None:
    wire.ask(at, "OffsetCommit", group="g", places=[(topic, 0, offset)], **more)


def test_input_is_deleted_before_it_was_committed(spark: SparkSession) -> None:
    wire = Wire()
    commit(wire, 1, "in", 120)
    delete(wire, 2, "in", 150)
    commit(wire, 3, "in", 150)
    assert told(spark, "deleted-unread", wire) == [
        "in-0 was deleted up to 150, but only 120 had been committed; a restart would have missed "
        "what was between: deleted-unread."
    ]


def test_offsets_of_a_transaction_count_from_its_commit_on(spark: SparkSession) -> None:
    early, late = Wire(), Wire()
    for wire, at in ((early, 1.5), (late, 2.5)):
        wire.offsets(1, ("in", 0, 150), 3)
        wire.end(2, 3)
        delete(wire, at, "in", 150)
    assert len(told(spark, "deleted-unread", early)) == 1
    assert told(spark, "deleted-unread", late) == []


def test_an_aborted_transaction_commits_no_offsets(spark: SparkSession) -> None:
    wire = Wire()
    commit(wire, 0.5, "in", 120)
    wire.offsets(1, ("in", 0, 150), 3)
    wire.end(2, 3, commit=False)
    delete(wire, 3, "in", 150)
    assert len(told(spark, "deleted-unread", wire)) == 1


def test_what_may_have_been_committed_may_be_deleted(spark: SparkSession) -> None:
    wire = Wire()
    commit(wire, 1, "in", 120, lost=True)
    delete(wire, 2, "in", 120)
    delete(wire, 3, "in", 150, error=87)
    delete(wire, 4, "elsewhere", 9)  # no offsets of it are ever committed: no position in it
    answer = {"places": [("in", 0, 200)]}
    wire.ask(5, "OffsetFetch", group="g", places=[("in", 0, None)], instance=1, answer=answer)
    delete(wire, 6, "in", 200, instance=1)  # a successor, by what it found committed
    assert told(spark, "deleted-unread", wire) == []


def test_markers_and_aborted_records_may_be_deleted_unread(spark: SparkSession) -> None:
    """A topic in between, as Kafka Streams purges it: 2 is a marker, 3 was aborted."""
    wire = Wire()
    wire.produce(1, ("between", 0, 0), 3)
    wire.end(1.2, 3)
    wire.produce(1.4, ("between", 0, 3), 3)
    wire.end(1.6, 3, commit=False)
    commit(wire, 2, "between", 2)
    delete(wire, 3, "between", 5)
    assert told(spark, "deleted-unread", wire) == []
    wire.produce(3.2, ("between", 0, 5), 3)
    wire.end(3.4, 3)
    answer = {"places": [("between", 0, 7)]}
    delete(wire, 4, "between", -1, answer=answer)
    assert told(spark, "deleted-unread", wire) == [
        "between-0 was deleted up to 7, but only 2 had been committed; a restart would have "
        "missed what was between: deleted-unread."
    ]


# zombie-write


def test_a_fenced_epoch_writes_and_the_broker_accepts_it(spark: SparkSession) -> None:
    wire = Wire()
    wire.init(1, "a", 3)
    wire.produce(2, ("out", 0, 400), 3)
    wire.init(3, "a", 4, instance=1)
    wire.produce(3.5, OUT, 3)
    assert told(spark, "zombie-write", wire, offsets_in_group=None, transactional=None) == [
        "out-0@401 was accepted from producer 1, epoch 3 (a), 0.5 s after epoch 4 had been handed "
        "out, which fences it: zombie-write."
    ]


def test_a_paused_zombie_that_is_refused_has_written_nothing(spark: SparkSession) -> None:
    wire = Wire()
    wire.init(1, "a", 3)
    wire.produce(2, ("out", 0, 400), 3)
    wire.init(3, "a", 4, instance=1)
    wire.produce(3.5, OUT, 3, error=FENCED)
    wire.produce(3.6, OUT, 4, instance=1)
    wire.end(3.7, 3, error=FENCED)
    assert told(spark, "zombie-write", wire) == []


def test_a_write_that_was_under_way_at_the_takeover_is_no_zombies(spark: SparkSession) -> None:
    wire = Wire()
    wire.init(1, "a", 3)
    wire.init(2, "a", 4, instance=1)
    wire.produce(2.005, OUT, 3)  # the answer with epoch 4 comes at 2.01
    wire.init(3, "a", 5, error=51)  # refused: nothing was handed out
    wire.produce(4, ("out", 0, 402), 4, instance=1)
    wire.init(5, "b", 9, producer=2)
    wire.produce(6, ("out", 0, 403), 4, instance=1)
    assert told(spark, "zombie-write", wire) == []


def test_the_retry_of_an_old_batch_is_acknowledged_and_writes_nothing(spark: SparkSession) -> None:
    for first in ({"lost": True}, {"error": 7}, {}):
        wire = Wire()
        wire.produce(1, OUT, 3, **first)
        wire.init(2, "a", 4, instance=1)
        wire.produce(3, OUT, 3)
        assert told(spark, "zombie-write", wire) == []


# shared-transactional-id


def tug_of_war(wire: Wire) -> None:
    wire.init(1, "a", 3, instance=0)
    wire.init(2, "a", 4, instance=1)
    wire.produce(2.5, OUT, 3, instance=0, error=FENCED)
    wire.init(3, "a", 5, instance=0)
    wire.end(3.5, 4, instance=1, error=FENCED)


def test_two_live_instances_fence_each_other(spark: SparkSession) -> None:
    wire = Wire()
    tug_of_war(wire)
    assert told(spark, "shared-transactional-id", wire) == [
        "a went from instance 0 (epoch 3) to instance 1 (epoch 4) and back (epoch 5) within "
        "2.5 s; each still used it, and nothing had happened to either: shared-transactional-id."
    ]


def test_a_takeover_is_not_sharing(spark: SparkSession) -> None:
    """A zombie is fenced; later the id comes back to it, from one that has let go."""
    wire = Wire()
    wire.init(1, "a", 3, instance=0)
    wire.init(2, "a", 4, instance=1)
    wire.produce(2.5, OUT, 3, instance=0, error=FENCED)
    wire.produce(2.6, OUT, 4, instance=1)
    assert told(spark, "shared-transactional-id", wire) == []
    wire.init(3, "a", 5, instance=0)
    wire.produce(3.5, OUT, 5, instance=0)
    assert told(spark, "shared-transactional-id", wire) == []


def test_what_happens_to_an_instance_explains_a_takeover(spark: SparkSession) -> None:
    wire = Wire()
    tug_of_war(wire)
    for happened in (
        event(1.5, "fault", "instance 0", action="pause", applied="true"),
        event(1.5, "exited", "instance 0", asked="true"),
        event(2.7, "started", "instance 0"),
    ):
        assert told(spark, "shared-transactional-id", wire, events=[happened]) == []
    before = event(0.5, "fault", "instance 0", action="kill", applied="true")
    refused = event(1.5, "fault", "instance 0", action="kill", applied="false")
    assert len(told(spark, "shared-transactional-id", wire, events=[before, refused])) == 1


def test_an_id_may_wander_with_its_partitions(spark: SparkSession) -> None:
    joined, changed, steady = Wire(), Wire(), Wire()
    joined.ask(2.2, "JoinGroup", group="g", member="m", generation=5)
    changed.ask(1.5, "ConsumerGroupHeartbeat", group="g", member="m", generation=5)
    changed.ask(2.9, "ConsumerGroupHeartbeat", group="g", member="m", generation=6)
    steady.ask(1.5, "Heartbeat", group="g", member="m", generation=5)
    steady.ask(2.9, "Heartbeat", group="g", member="m", generation=5)
    for wire, found in ((joined, 0), (changed, 0), (steady, 1)):
        tug_of_war(wire)
        assert len(told(spark, "shared-transactional-id", wire)) == found


def test_clients_of_one_instance_or_of_nobody_may_take_turns(spark: SparkSession) -> None:
    for others in (0, None):
        wire = Wire()
        wire.init(1, "a", 3, instance=0)
        wire.init(2, "a", 4, instance=others)
        wire.produce(2.5, OUT, 3, instance=0, error=FENCED)
        wire.init(3, "a", 5, instance=0)
        wire.produce(3.5, OUT, 4, instance=others, error=FENCED)
        assert told(spark, "shared-transactional-id", wire) == []


# hanging-transaction


def batch(base: int, last: int, outcome: str, epoch: int = 3) -> tuple[Any, ...]:
    return (0, base, last, last - base + 1, 1, epoch, True, outcome, None)


def test_a_transaction_stays_open_although_its_epoch_was_replaced(spark: SparkSession) -> None:
    wire = Wire()
    wire.init(1, "a", 3)
    wire.init(2, "a", 4, instance=1)
    batches = [batch(17, 18, "UNKNOWN"), batch(19, 21, "UNKNOWN"), batch(22, 23, "COMMITTED", 4)]
    assert told(spark, "hanging-transaction", wire, batches=batches) == [
        "17 to 21 of the output's partition 0, producer 1, epoch 3 (a), have no end, and epoch 4 "
        "has been handed out since; nobody will end them, and read_committed readers wait for "
        "ever: hanging-transaction."
    ]


def test_a_transaction_that_waits_for_its_timeout_does_not_hang(spark: SparkSession) -> None:
    wire = Wire()
    wire.init(1, "a", 3)
    wire.init(2, "a", 4, error=51)
    wire.init(3, "b", 9, producer=2)
    assert told(spark, "hanging-transaction", wire, batches=[batch(17, 21, "UNKNOWN")]) == []


def test_a_takeover_that_aborted_what_was_open_leaves_nothing(spark: SparkSession) -> None:
    wire = Wire()
    wire.init(1, "a", 3)
    wire.init(2, "a", 4, instance=1)
    batches = [batch(17, 21, "ABORTED"), batch(22, 23, "UNKNOWN", 4)]
    assert told(spark, "hanging-transaction", wire, batches=batches) == []


# all of them

WHAT_EACH_ASKS_ABOUT = {
    "commit-without-offsets": "TxnOffsetCommit",
    "unguarded-offset-commit": "TxnOffsetCommit",
    "deleted-unread": "DeleteRecords",
    "zombie-write": "Produce",
    "shared-transactional-id": "InitProducerId",
    "hanging-transaction": "InitProducerId",
}


def test_a_frame_that_could_not_be_decoded_makes_its_checks_unknown(spark: SparkSession) -> None:
    for api in sorted(set(WHAT_EACH_ASKS_ABOUT.values())):
        wire = Wire()
        wire.ask(1, api, decoded=False)
        wire.ask(2, "InitProducerId")  # without any, nobody can have been fenced
        case = case_of(
            spark,
            batches=[batch(17, 21, "UNKNOWN")],
            events=[],
            frames=wire.rows,
            transactional=True,
            offsets_in_group=True,
            began_at_s=BEGAN_AT_S,
        )
        judgement = judge(case, WHAT_EACH_ASKS_ABOUT)
        asked_about = {name for name, each in WHAT_EACH_ASKS_ABOUT.items() if each == api}
        assert asked_about <= set(judgement.unknown)
        assert "could not be decoded" in next(iter(judgement.unknown.values()))
        assert judgement.findings == ()


def test_frames_between_brokers_are_not_the_suspects(spark: SparkSession) -> None:
    wire = Wire()
    wire.ask(1, "Produce", decoded=False, listener="internal")
    assert told(spark, "zombie-write", wire) == []
