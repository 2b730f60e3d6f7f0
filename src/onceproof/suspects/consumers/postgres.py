"""Exactly once into a database server: rows and position in one transaction of PostgreSQL's.

    assigned, seek to what the table says ──▶ poll ──▶ BEGIN ─▶ rows ─▶ position ─▶ COMMIT ──▶ …

The group shares the partitions out; no offset is ever committed there. The position is moved only
from where this batch began: of two members that think the partition is theirs, one finds that it
has moved already, rolls back, and reads on from there. It is moved last: a member that is paused
half way through its rows holds no lock that its successor would wait for.
"""

import os
import sys
from typing import Any

import psycopg
from confluent_kafka import Consumer, Message

from onceproof.suspects.consumers.contract import (
    BATCH_WAIT_S,
    Ending,
    batch_max,
    by_partition,
    consumer_settings,
    given,
    records_of,
    say,
    work,
)
from onceproof.suspects.consumers.seeking import read_on, subscribe_from
from onceproof.suspects.environment import DATABASE_VARIABLE
from onceproof.suspects.tables.postgres import client_name

# A member that stands still with its position moved and not committed is cut off by the server.
IDLE_MS = 10_000

Database = psycopg.Connection[tuple[Any, ...]]


def main() -> int:
    ending = Ending()
    database = connect()
    consumer = Consumer(consumer_settings())

    def next_of(partition: int) -> int:
        return place(database, partition)

    subscribe_from(consumer, next_of)
    say("started")
    while not ending.asked:
        records = records_of(consumer.consume(batch_max(), BATCH_WAIT_S))
        for partition, own in by_partition(records).items():
            try:
                is_written = write(database, partition, own)
            except psycopg.OperationalError as error:  # cut off: what was open is undone
                say("refused", partition=partition, why=str(error))
                database, is_written = connect(), False
            if is_written:
                say("committed", partition=partition, records=len(own))
            else:
                read_on(consumer, partition, next_of)
    consumer.close()
    database.close()
    say("stopped")
    return 0


def connect() -> Database:
    return psycopg.connect(
        os.environ[DATABASE_VARIABLE],
        application_name=client_name(int(given("INSTANCE"))),
        options=f"-c idle_in_transaction_session_timeout={IDLE_MS}",
    )


def write(database: Database, partition: int, records: list[Message]) -> bool:
    """False: the position is not where these records begin; nothing was written."""
    first, after = records[0].offset() or 0, (records[-1].offset() or 0) + 1
    for record in records:
        work()
        database.execute(
            "INSERT INTO results (partition, key, value) VALUES (%s, %s, %s)",
            (partition, record.key(), record.value()),
        )
    moved = database.execute(
        "UPDATE positions SET next = %s WHERE partition = %s AND next <= %s",
        (after, partition, first),
    )
    is_ours = moved.rowcount == 1
    if is_ours:
        database.commit()
    else:
        database.rollback()
    return is_ours


def place(database: Database, partition: int) -> int:
    database.execute("INSERT INTO positions VALUES (%s, 0) ON CONFLICT DO NOTHING", (partition,))
    query = "SELECT next FROM positions WHERE partition = %s"
    row = database.execute(query, (partition,)).fetchone()
    database.commit()
    assert row is not None
    return int(row[0])


if __name__ == "__main__":
    sys.exit(main())
