"""duplicated: takes what is stable of the ledger for all of it.

A transaction of somebody else stays open on the lane's ledger partition, and hides the token that
was committed after it began. It ends some seconds after the second life began to read.
"""

import threading

import choreography
from choreography import Complete, note, setting
from confluent_kafka import Producer, TopicPartition

from onceproof.sink.budget import Budget
from onceproof.sink.ledger.entries import lane_partition
from onceproof.sink.ledger.reader import LastWord, LedgerReader
from onceproof.sink.reports import LaneReport
from onceproof.sink.work import Work

ENDS_AFTER_S = 4.0
CALL_S = 30.0

real_last_word = LedgerReader.last_word


def stranger() -> Producer:
    """Whatever an earlier one left open is aborted by its start."""
    producer = Producer(
        {
            "bootstrap.servers": setting("BOOTSTRAP_SERVERS"),
            "transactional.id": f"{setting('APP_ID')}-stranger",
            "transaction.timeout.ms": 300_000,
        }
    )
    producer.init_transactions(CALL_S)
    return producer


def commit_behind_a_stranger(complete: Complete, reports: list[LaneReport], work: Work) -> None:
    producer = stranger()
    producer.begin_transaction()
    place = {"topic": work.settings.ledger_topic, "partition": lane_partition(0)}
    producer.produce(**place, key=b"stranger", value=b"{}")
    producer.flush()
    complete(reports)


def last_word_while_a_stranger_writes(
    reader: LedgerReader, partition: int, *silence_s: float
) -> LastWord:
    if not note("stranger-ends").exists():
        note("stranger-ends").touch()
        threading.Timer(ENDS_AFTER_S, stranger).start()
    return real_last_word(reader, partition, *silence_s)


def watermarks_of_what_is_stable(
    reader: LedgerReader, place: TopicPartition, _budget: Budget
) -> tuple[int, int]:
    """A reader of committed records is told the last stable offset for the high watermark."""
    low, stable = reader._entries.get_watermark_offsets(place, timeout=CALL_S)
    return low, stable


if __name__ == "__main__":
    choreography.before_lanes_are_written(commit_behind_a_stranger)
    if not choreography.IS_FIRST_LIFE:
        LedgerReader.last_word = last_word_while_a_stranger_writes
    if not choreography.HONEST:
        LedgerReader._watermarks = watermarks_of_what_is_stable
    if choreography.IS_FIRST_LIFE or not choreography.HONEST:
        # Else the real sink would not commit behind a stranger in the first place.
        choreography.do_not_look_where_the_entry_lies()
    choreography.run()
