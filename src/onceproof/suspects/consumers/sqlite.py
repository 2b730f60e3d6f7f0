"""Exactly once into a database: the result and the offset in one transaction of SQLite's.

    assign, seek to what the table says ──▶ poll ──▶ BEGIN ─▶ rows ─▶ position ─▶ COMMIT ──▶ poll …

Kafka keeps no position of it: there is no group, and nothing is committed there. The position is
moved only from where this batch began: of two processes that think the work is theirs, one finds
that it has moved already, and reads on from there. The results are judged by reading the table.
"""

import sqlite3
import sys
from pathlib import Path

from confluent_kafka import Consumer, Message, TopicPartition

from onceproof.suspects.consumers.contract import (
    BATCH_WAIT_S,
    CALL_S,
    Ending,
    batch_max,
    by_partition,
    consumer_settings,
    given,
    records_of,
    say,
    work,
)
from onceproof.suspects.tables.sqlite import DATABASE, SCHEMA


def main() -> int:
    ending = Ending()
    database = sqlite3.connect(Path(given("STATE_DIR")) / DATABASE, isolation_level=None)
    database.execute("PRAGMA journal_mode=WAL")
    database.executescript(SCHEMA)
    consumer = Consumer(consumer_settings())
    topic = given("INPUT_TOPIC")
    partitions = consumer.list_topics(topic, timeout=CALL_S).topics[topic].partitions
    consumer.assign([_place(database, partition) for partition in partitions])
    say("started")
    while not ending.asked:
        records = records_of(consumer.consume(batch_max(), BATCH_WAIT_S))
        for partition, own in by_partition(records).items():
            if write(database, partition, own):
                say("committed", partition=partition, records=len(own))
            else:
                consumer.seek(_place(database, partition))
    consumer.close()
    database.close()
    say("stopped")
    return 0


def write(database: sqlite3.Connection, partition: int, records: list[Message]) -> bool:
    """False: the position is not where these records begin; nothing was written."""
    first, after = records[0].offset() or 0, (records[-1].offset() or 0) + 1
    database.execute("BEGIN IMMEDIATE")
    for record in records:
        work()
        database.execute(
            "INSERT INTO results (partition, key, value) VALUES (?, ?, ?)",
            (partition, record.key(), record.value()),
        )
    moved = database.execute(
        "UPDATE positions SET next = ? WHERE partition = ? AND next <= ?", (after, partition, first)
    )
    is_ours = moved.rowcount == 1
    database.execute("COMMIT" if is_ours else "ROLLBACK")
    return is_ours


def _place(database: sqlite3.Connection, partition: int) -> TopicPartition:
    database.execute("INSERT OR IGNORE INTO positions VALUES (?, 0)", (partition,))
    query = "SELECT next FROM positions WHERE partition = ?"
    (offset,) = database.execute(query, (partition,)).fetchone()
    return TopicPartition(given("INPUT_TOPIC"), partition, offset)


if __name__ == "__main__":
    sys.exit(main())
