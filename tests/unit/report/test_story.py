"""Stories of made-up recordings, whole: each line is what a reader of a report sees."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from made_up_wire import BEGAN_NS, INPUT, OUTPUT, MadeUpWire, at

from onceproof.history.fault_record import FaultRecord
from onceproof.report.story.recording import Recording, WirePlace
from onceproof.report.story.steps import FAULTS_MAX, STEPS_MAX, Story
from onceproof.report.story.telling import TOO_LONG, tell_story

KILL = FaultRecord(
    action="kill", target="instance 0", at_s=2.0, applied=True, healed_at_s=4.0, evidence="SIGKILL"
)
FROM_INPUT = {"input_topic": INPUT, "input_partition": 0, "input_offset": 205}
TWICE = {
    "topic": OUTPUT,
    "partition": 0,
    "offset": 977,
    "first_topic": OUTPUT,
    "first_partition": 0,
    "first_offset": 401,
    **FROM_INPUT,
}
TXN = {"transactional_id": "app-0", "producer_id": 1, "producer_epoch": 0}


def told(facts: dict[str, Any], wire: MadeUpWire, faults: Sequence[FaultRecord] = (KILL,)) -> Story:
    story = tell_story(facts, wire.recording(), faults, BEGAN_NS)
    assert story is not None
    return story


def lines(story: Story) -> list[str]:
    return [
        f"{'-' if step.at_s is None else f'{step.at_s:.2f}'}"
        f" {step.lane}{'>' if step.to else ''}{step.to}: {step.what}"
        for step in story.steps
    ]


def commit(wire: MadeUpWire, at_s: float, position: int, **said: Any) -> None:
    asked = {"places": (at(INPUT, 0, position),), "group": "app", "answered_s": at_s + 0.005}
    api = "TxnOffsetCommit" if "transactional_id" in said else "OffsetCommit"
    wire.ask(at_s, api, 3, **{**asked, "answer": {"places": (at(INPUT, 0),)}, **said})


def restarted_at(wire: MadeUpWire, at_s: float, position: int) -> None:
    wire.line += 1
    wire.ask(
        at_s,
        "OffsetFetch",
        3,
        places=(at(INPUT, 0),),
        answered_s=at_s + 0.01,
        answer={"places": (at(INPUT, 0, position),)},
    )


def test_a_kill_between_write_and_commit_is_a_record_twice() -> None:
    wire = MadeUpWire()
    wire.fetch(1.0, 180, 240).produce(1.5, 400, 10)
    restarted_at(wire, 4.1, 180)
    wire.fetch(4.3, 180, 300).produce(4.5, 970, 20)
    commit(wire, 4.6, 301)
    story = told(TWICE, wire)
    assert lines(story) == [
        "1.00 broker 1>instance 0: Fetch brought in-0@180 to 240",
        "1.50 instance 0>broker 2: Produce of 10 records to out-0, no producer id:"
        " written at out-0@400 to 409",
        "2.00 faults>instance 0: fault 1: kill instance 0",
        "4.00 faults>instance 0: fault 1 healed: kill instance 0",
        "4.11 broker 3>instance 0: OffsetFetch: the position is in-0@180",
        "4.30 broker 1>instance 0: Fetch brought in-0@180 to 300",
        "4.50 instance 0>broker 2: Produce of 20 records to out-0, no producer id:"
        " written at out-0@970 to 989",
        "4.60 instance 0>broker 3: OffsetCommit: position in-0@301: done",
    ]
    assert story.notes == (
        "No commit of a position past in-0@205 is recorded before it was written again.",
    )
    assert story.names == {"in": INPUT, "out": OUTPUT}
    assert story.lanes() == ["instance 0", "broker 1", "broker 2", "broker 3", "faults"]


def test_a_commit_before_the_write_is_a_record_lost() -> None:
    wire = MadeUpWire()
    wire.fetch(1.0, 180, 240)
    commit(wire, 1.2, 241)
    restarted_at(wire, 4.1, 241)
    wire.fetch(4.3, 241, 300).produce(4.5, 970, 20)
    story = told(FROM_INPUT, wire)
    assert lines(story) == [
        "1.00 broker 1>instance 0: Fetch brought in-0@180 to 240",
        "1.20 instance 0>broker 3: OffsetCommit: position in-0@241: done",
        "2.00 faults>instance 0: fault 1: kill instance 0",
    ]
    assert story.notes == (
        "No Produce of instance 0 is recorded from that Fetch until the position was past it.",
        "No later Fetch asks for in-0@205 or for anything before it: nobody went back.",
    )


def test_who_went_back_for_a_lost_record_is_not_said_to_have_gone_on() -> None:
    wire = MadeUpWire().fetch(1.0, 180, 240).fetch(1.5, 201, 203)
    commit(wire, 1.6, 241)
    assert not any("nobody went back" in note for note in told(FROM_INPUT, wire, ()).notes)


def test_a_commit_that_was_refused_does_not_count_as_the_one_that_moved_the_position() -> None:
    wire = MadeUpWire()
    wire.fetch(1.0, 180, 240)
    commit(wire, 1.2, 241, answer={"error_code": 22})
    wire.line = 2
    wire.instance = 1
    wire.fetch(1.4, 200, 240)
    commit(wire, 1.6, 250)
    story = told(FROM_INPUT, wire, faults=())
    assert lines(story)[-1] == "1.60 instance 1>broker 3: OffsetCommit: position in-0@250: done"
    assert not any("ILLEGAL_GENERATION" in line for line in lines(story))


def test_written_in_a_transaction_that_was_aborted_and_its_position_committed_apart() -> None:
    wire = MadeUpWire()
    wire.fetch(1.0, 180, 240)
    wire.produce(1.1, 300, 5, **{**TXN, "places": (at(OUTPUT, 0, records=5),)})
    wire.ask(1.2, "EndTxn", 3, **TXN, committed=False, answered_s=1.21)
    wire.produce(1.25, 306, 7, **TXN)
    commit(wire, 1.3, 241)
    wire.batch(300, 5, "ABORTED", producer_id=1, marker_offset=305)
    wire.batch(306, 7, "COMMITTED", producer_id=1, marker_offset=313)
    story = told(FROM_INPUT, wire, faults=())
    assert lines(story) == [
        "1.00 broker 1>instance 0: Fetch brought in-0@180 to 240",
        "1.10 instance 0>broker 2: Produce of 5 records to out-0, producer 1 epoch 0,"
        " which may have held it: written at out-0@300 to 304",
        "1.20 instance 0>broker 3: EndTxn abort, producer 1 epoch 0: done",
        "- broker 2: marker at out-0@305: abort of producer 1 epoch 0",
        "1.30 instance 0>broker 3: OffsetCommit: position in-0@241: done",
    ]
    assert [step.is_sure for step in story.steps] == [True, False, True, True, True]
    assert story.names == {"in": INPUT, "producer 1": "app-0"}


def test_a_late_end_of_a_transaction_that_a_successor_has_taken_over() -> None:
    wire = MadeUpWire()
    wire.fetch(1.0, 180, 240).produce(1.5, 400, 10, **TXN)
    commit(wire, 1.6, 241, **TXN)
    held = {"verdict": "hold", "answered_s": 5.0, "answer": {"error_code": 47}}
    wire.ask(1.9, "EndTxn", 3, **TXN, committed=True, **held)
    wire.line = 2
    begin = {"transactional_id": "app-0", "producer_id": -1}
    wire.ask(4.1, "InitProducerId", 3, **begin, answered_s=4.11, answer={"error_code": 51})
    successor = {"producer_id": 1, "producer_epoch": 2}
    wire.ask(4.2, "InitProducerId", 3, **begin, answered_s=4.21, answer=successor)
    wire.batch(400, 10, "ABORTED", producer_id=1, marker_offset=410)
    leaked = {"topic": OUTPUT, "partition": 0, "offset": 401, **FROM_INPUT}
    story = told(leaked, wire)
    assert lines(story) == [
        "1.00 broker 1>instance 0: Fetch brought in-0@180 to 240",
        "1.50 instance 0>broker 2: Produce of 10 records to out-0, producer 1 epoch 0:"
        " written at out-0@400 to 409",
        "1.60 instance 0>broker 3: TxnOffsetCommit: position in-0@241, producer 1 epoch 0: done",
        "1.90 instance 0>broker 3: EndTxn commit, producer 1 epoch 0; held at the proxy",
        "2.00 faults>instance 0: fault 1: kill instance 0",
        "4.00 faults>instance 0: fault 1 healed: kill instance 0",
        "4.10 instance 0>broker 3: InitProducerId: refused, CONCURRENT_TRANSACTIONS",
        "4.20 instance 0>broker 3: InitProducerId: producer 1 epoch 2 begins",
        "5.00 broker 3>instance 0: EndTxn answered: refused, INVALID_PRODUCER_EPOCH",
        "- broker 2: marker at out-0@410: abort of producer 1 epoch 0",
    ]
    assert [step.is_fault for step in story.steps].count(True) == 2
    assert story.notes == ()


def test_where_brokers_are_recorded_too_a_marker_has_its_moment() -> None:
    wire = MadeUpWire().produce(1.5, 400, 10, **TXN)
    wire.batch(400, 10, "COMMITTED", producer_id=1, marker_offset=410)
    wire.instance = None
    written = {"producer_id": 1, "producer_epoch": 0, "committed": True}
    wire.ask(1.8, "WriteTxnMarkers", 2, places=(at(OUTPUT, 0),), **written)
    story = told({"topic": OUTPUT, "partition": 0, "offset": 405}, wire, faults=())
    assert lines(story)[-1] == "1.80 broker 2: marker at out-0@410: commit of producer 1 epoch 0"
    assert story.notes == (
        "Which input it comes from is not known.",
        "No EndTxn of producer 1 epoch 0 is recorded after it, and no successor:"
        " only the coordinator's timeout ends such a transaction.",
    )


def without_reach(wire: MadeUpWire) -> MadeUpWire:
    """As recorded before a place told what it carries."""
    for number, frame in enumerate(wire.frames):
        places = tuple(
            WirePlace(topic=each.topic, partition=each.partition, offset=each.offset)
            for each in frame.places
        )
        wire.frames[number] = replace(frame, places=places)
    return wire


def test_where_the_recording_does_not_tell_what_a_fetch_brought_it_may_have_been_it() -> None:
    wire = MadeUpWire().fetch(1.0, 100, 179).fetch(1.2, 180, 240).fetch(1.4, 241, 250)
    wire.produce(1.5, 400, 10)
    facts = {"topic": OUTPUT, "partition": 0, "offset": 401, **FROM_INPUT}
    first, *_ = told(facts, without_reach(wire), faults=()).steps
    assert first.what == "Fetch from in-0@180 on, which may have brought in-0@205"
    assert not first.is_sure


def test_a_fetch_that_stopped_before_the_record_or_went_to_another_is_not_told() -> None:
    wire = MadeUpWire().fetch(1.0, 180, 240)
    wire.fetch(1.1, 180, 204).fetch(1.2, 205, None)
    wire.instance = 1
    wire.fetch(1.3, 180, 240)
    wire.instance = 0
    wire.produce(1.5, 400, 10).fetch(1.6, 180, 240)
    facts = {"topic": OUTPUT, "partition": 0, "offset": 401, **FROM_INPUT}
    fetches = [line for line in lines(told(facts, wire, faults=())) if "Fetch" in line]
    assert fetches == ["1.00 broker 1>instance 0: Fetch brought in-0@180 to 240"]


def test_in_a_fetch_session_a_request_that_names_nothing_asks_as_before() -> None:
    wire = MadeUpWire().fetch(1.0, 180, None)
    carried = {"places": (at(INPUT, 0, records=61, last_offset=240),)}
    wire.ask(1.1, "Fetch", 1, answered_s=1.2, answer=carried)
    wire.produce(1.5, 400, 10)
    facts = {"topic": OUTPUT, "partition": 0, "offset": 401, **FROM_INPUT}
    assert lines(told(facts, wire, faults=()))[0] == (
        "1.20 broker 1>instance 0: Fetch brought in-0@180 to 240"
    )


def test_one_fetch_written_twice_is_said() -> None:
    wire = MadeUpWire().fetch(1.0, 180, 240).produce(1.5, 400, 10).produce(1.7, 970, 10)
    notes = told(TWICE, wire, faults=()).notes
    assert "Both were written after the same Fetch: it was not read again." in notes
    assert "No commit of a position on in-0 is recorded at all: it may be kept elsewhere." in notes


def test_a_batch_sent_again_shows_its_first_attempt_and_what_became_of_it() -> None:
    who = {"producer_id": 9, "producer_epoch": 0, "first_sequence": 40}
    wire = MadeUpWire().produce(1.0, 400, 10, **who, verdict="drop", answered_s=None)
    wire.produce(1.5, 400, 10, **who)
    wire.produce(0.5, 300, 10, producer_id=9, producer_epoch=0, first_sequence=30)
    story = told({"topic": OUTPUT, "partition": 0, "offset": 401}, wire, faults=())
    assert [(step.what, step.is_fault) for step in story.steps] == [
        ("Produce of 10 records to out-0, producer 9 epoch 0; dropped at the proxy", True),
        ("Produce of 10 records to out-0, producer 9 epoch 0: written at out-0@400 to 409", False),
    ]


def test_a_produce_that_is_not_recorded_leaves_what_the_log_tells() -> None:
    wire = MadeUpWire().produce(1.0, 10, 1)
    wire.batch(400, 10, "ABORTED", marker_offset=410)
    story = told({"topic": OUTPUT, "partition": 0, "offset": 401, **FROM_INPUT}, wire)
    assert lines(story) == ["- log: marker at out-0@410: abort of producer 7001 epoch 0"]
    assert story.notes == ("The Produce that wrote out-0@401 is not recorded.",)


def test_a_state_that_went_back_shows_both_writings() -> None:
    wire = MadeUpWire().produce(1.0, 400, 10).produce(1.5, 970, 10)
    facts = {"topic": OUTPUT, "partition": 0, "offset": 977, "before_offset": 401}
    assert [step.at_s for step in told(facts, wire, faults=()).steps] == [1.0, 1.5]


def test_a_lost_record_that_nobody_fetched_shows_who_began_behind_it() -> None:
    wire = MadeUpWire()
    restarted_at(wire, 1.0, 206)
    wire.fetch(1.2, 206, 300)
    story = told(FROM_INPUT, wire, faults=())
    assert lines(story) == [
        "1.01 broker 3>instance 0: OffsetFetch: the position is in-0@206",
        "1.20 broker 1>instance 0: Fetch from in-0@206 on: past it",
    ]
    assert story.notes[0] == "No Fetch that brought in-0@205 is recorded."


def test_what_was_written_after_somebody_began_behind_a_lost_record_cannot_have_held_it() -> None:
    wire = MadeUpWire().fetch(1.0, 180, 240).produce(1.5, 400, 10, answered_s=None)
    wire.line = 2
    wire.fetch(4.3, 241, 300).produce(4.5, 970, 20, answered_s=None)
    assert lines(told(FROM_INPUT, wire, faults=())) == [
        "1.00 broker 1>instance 0: Fetch brought in-0@180 to 240",
        "1.50 instance 0>broker 2: Produce of 10 records to out-0, no producer id,"
        " which may have held it; no answer is recorded",
        "4.30 broker 1>instance 0: Fetch from in-0@241 on: past it",
    ]


def test_a_marker_without_a_moment_stands_after_the_answer_that_its_batch_was_written() -> None:
    wire = MadeUpWire().produce(1.0, 400, 10, **TXN)
    wire.batch(400, 10, "UNKNOWN", producer_id=1)
    first, second = told({"topic": OUTPUT, "partition": 0, "offset": 401}, wire, ()).steps
    assert first.is_answered
    assert second.what == "no marker: the transaction of out-0@401 is still open"


def test_a_lost_record_is_not_looked_for_in_another_topic_of_the_suspect() -> None:
    wire = MadeUpWire().fetch(1.0, 180, 240)
    ledger = {"places": (at("app.ledger", 0, records=1),), "answer": {}}
    wire.produce(1.1, 300, 1, **ledger)
    wire.batch(300, 1, "ABORTED", marker_offset=301)
    commit(wire, 1.3, 241)
    story = told(FROM_INPUT, wire, faults=())
    assert [step.what.partition(":")[0] for step in story.steps] == [
        "Fetch brought in-0@180 to 240",
        "OffsetCommit",
    ]


ONCE = {"topic": OUTPUT, "partition": 0, "offset": 401, **FROM_INPUT}


def test_only_what_its_own_producer_and_epoch_did_is_the_end_of_a_transaction() -> None:
    wire = MadeUpWire().fetch(1.0, 180, 240).produce(1.5, 400, 10, **TXN)
    wire.ask(1.6, "EndTxn", 3, **{**TXN, "producer_epoch": 2}, committed=True, answered_s=1.7)
    wire.ask(1.8, "EndTxn", 3, **{**TXN, "producer_id": 8}, committed=True, answered_s=1.9)
    assert not any("EndTxn" in line for line in lines(told(ONCE, wire, faults=())))


def test_an_end_of_the_transaction_before_that_comes_late_is_told() -> None:
    wire = MadeUpWire().fetch(1.0, 180, 240)
    wire.ask(1.1, "EndTxn", 3, **TXN, committed=True, verdict="hold", answered_s=1.8)
    wire.ask(1.2, "EndTxn", 3, **TXN, committed=True, answered_s=1.3)  # of the one before, in time
    wire.produce(1.5, 400, 10, **TXN)
    ends = [line for line in lines(told(ONCE, wire, faults=())) if "EndTxn" in line]
    assert ends == [
        "1.10 instance 0>broker 3: EndTxn commit, producer 1 epoch 0; held at the proxy",
        "1.80 broker 3>instance 0: EndTxn answered: done",
    ]


def test_a_successor_after_a_good_end_is_no_part_of_the_story() -> None:
    wire = MadeUpWire().fetch(1.0, 180, 240).produce(1.5, 400, 10, **TXN)
    wire.ask(1.6, "EndTxn", 3, **TXN, committed=True, answered_s=1.7)
    wire.ask(1.65, "InitProducerId", 3, transactional_id="another", answered_s=1.66)
    wire.ask(1.8, "InitProducerId", 3, transactional_id="app-0", answered_s=1.9)
    assert lines(told(ONCE, wire, faults=()))[-1] == (
        "1.60 instance 0>broker 3: EndTxn commit, producer 1 epoch 0: done"
    )


def test_a_successor_after_an_end_that_never_arrived_is_told() -> None:
    wire = MadeUpWire().fetch(1.0, 180, 240).produce(1.5, 400, 10, **TXN)
    wire.ask(1.6, "EndTxn", 3, **TXN, committed=True, verdict="drop")
    successor = {"producer_id": 1, "producer_epoch": 1}
    wire.ask(1.8, "InitProducerId", 3, transactional_id="app-0", answered_s=1.9, answer=successor)
    assert lines(told(ONCE, wire, faults=()))[-2:] == [
        "1.60 instance 0>broker 3: EndTxn commit, producer 1 epoch 0; dropped at the proxy",
        "1.80 instance 0>broker 3: InitProducerId: producer 1 epoch 1 begins",
    ]


def test_an_answer_that_the_proxy_held_is_a_step_of_its_own() -> None:
    wire = MadeUpWire().fetch(1.0, 180, 240).produce(1.5, 400, 10, **TXN)
    held = {"answered_s": 1.7, "answer": {"verdict": "hold"}}
    wire.ask(1.6, "EndTxn", 3, **TXN, committed=True, **held)
    *_, asked, answered = told(ONCE, wire, faults=()).steps
    assert (asked.what, asked.is_fault) == ("EndTxn commit, producer 1 epoch 0", False)
    assert (answered.what, answered.is_fault) == (
        "EndTxn answered: done; held at the proxy",
        True,
    )


def test_of_the_commits_only_those_past_the_record_count_and_of_those_the_first() -> None:
    wire = MadeUpWire().fetch(1.0, 180, 240).produce(1.5, 400, 10)
    for at_s, position in ((1.6, 205), (1.7, 206), (1.8, 207)):
        commit(wire, at_s, position)
    assert lines(told(ONCE, wire, faults=()))[2:] == [
        "1.70 instance 0>broker 3: OffsetCommit: position in-0@206: done"
    ]


def test_two_batches_of_one_transaction_have_one_marker() -> None:
    wire = MadeUpWire().fetch(1.0, 180, 240)
    for base in (300, 305):
        wire.produce(1.0 + base / 1000, base, 5, **TXN)
        wire.batch(base, 5, "ABORTED", producer_id=1, marker_offset=310)
    commit(wire, 1.5, 241)
    markers = [line for line in lines(told(FROM_INPUT, wire, faults=())) if "marker" in line]
    assert len(markers) == 1


def test_a_fetch_that_brought_nothing_is_not_told() -> None:
    wire = MadeUpWire().fetch(1.0, 180, None).produce(1.5, 400, 10)
    nothing = "No Fetch that brought in-0@205 to instance 0 before it wrote is recorded."
    assert told(ONCE, wire, faults=()).notes[0] == nothing
    # In a session an answer without any partition is recorded with its request's places.
    asked = (at(INPUT, 0, 180),)
    empty = MadeUpWire().ask(1.0, "Fetch", 1, places=asked, answered_s=1.1).produce(1.5, 400, 10)
    assert told(ONCE, empty, faults=()).notes[0] == nothing


def test_where_reach_is_not_told_a_fetch_that_was_asked_again_had_not_brought_it() -> None:
    wire = MadeUpWire().fetch(1.0, 180, 190).fetch(1.2, 180, 240).fetch(1.4, 241, 250)
    commit(wire, 1.6, 241)
    story = told(FROM_INPUT, without_reach(wire), faults=())
    assert [step.at_s for step in story.steps] == [1.2, 1.6]


def test_faults_far_from_the_record_or_not_applied_are_left_out() -> None:
    wire = MadeUpWire().produce(20.0, 400, 10)
    faults = [
        KILL,
        replace(KILL, at_s=19.0, healed_at_s=None, target="broker 2 (leader of out-0)"),
        replace(KILL, at_s=20.0, healed_at_s=None, applied=False),
        replace(KILL, at_s=10.0, healed_at_s=30.0, action="slow", target="every broker"),
        replace(KILL, at_s=23.0),
    ]
    story = told({"topic": OUTPUT, "partition": 0, "offset": 401}, wire, faults)
    assert [(step.to, step.what) for step in story.steps if step.is_fault] == [
        ("", "fault 4: slow every broker"),
        ("broker 2", "fault 2: kill broker 2 (leader of out-0)"),
    ]


def test_a_story_is_never_longer_than_a_person_reads_and_says_what_it_leaves_out() -> None:
    wire = MadeUpWire()
    for round_ in range(4):
        wire.line += 1
        wire.fetch(1.0 + round_, 180, 240)
        for rank in range(5):
            txn = {**TXN, "producer_id": 10 * round_ + rank}
            wire.produce(1.1 + round_ + rank / 100, 100 * round_ + 10 * rank, 5, **txn)
            wire.batch(100 * round_ + 10 * rank, 5, "ABORTED", marker_offset=99)
    faults = [replace(KILL, at_s=1.0 + rank / 5, healed_at_s=4.0) for rank in range(9)]
    story = told(FROM_INPUT, wire, faults)
    assert len(story.steps) == STEPS_MAX
    acts = [step for step in story.steps if step.lane == "faults" and "healed" not in step.what]
    assert len(acts) == FAULTS_MAX
    assert story.notes[-1].endswith("more steps are left out.")


def test_a_witness_without_a_record_and_a_record_without_a_frame_have_no_story() -> None:
    recording = MadeUpWire().produce(1.0, 10, 1).recording()
    assert tell_story({"instance": 2, "code": 1}, recording, (), BEGAN_NS) is None
    assert tell_story({"topic": OUTPUT, "partition": 3, "offset": 7}, recording, (), 0) is None
    assert tell_story({"topic": None, "partition": 3, "offset": 7}, recording, (), 0) is None


def test_a_recording_that_is_too_long_is_said_to_be() -> None:
    story = tell_story(TWICE, Recording(exchanges=(), is_too_long=True), (KILL,), BEGAN_NS)
    assert story is not None
    assert (story.steps, story.notes) == ((), (TOO_LONG,))
