"""Exactly once into a database without transactions, by what is written and not by when.

    assigned, seek to what the table says ──▶ poll ──▶ rows ──▶ position ──▶ poll …
                                                            ▲ killed here: the batch comes again

write=keys    A row's key is its input's partition and offset: what comes again is written over
              itself. The position is its own timestamp: the highest stays, whoever writes last.
write=lwt     Rows under fresh keys and the position in one conditional batch, which one partition
              of a table allows: applied only where the position is still this batch's beginning.
write=append  Wrong on purpose: fresh keys, and nothing that guards them. What comes again is there
              twice.
"""

import itertools
import os
import sys
import time
from collections.abc import Iterator
from typing import Any

from cassandra import ConsistencyLevel, DriverException
from cassandra.cluster import NoHostAvailable
from cassandra.query import BatchStatement
from confluent_kafka import Consumer, Message

from onceproof.suspects.consumers.contract import (
    BATCH_WAIT_S,
    Ending,
    batch_max,
    by_partition,
    choice,
    consumer_settings,
    given,
    records_of,
    say,
    work,
)
from onceproof.suspects.consumers.seeking import read_on, subscribe_from
from onceproof.suspects.environment import DATABASE_VARIABLE
from onceproof.suspects.tables.cassandra import connect

WRITES = ("keys", "lwt", "append")


class Results:
    """The table, and how a batch is written into it."""

    def __init__(self, session: Any, write: str) -> None:
        self._session = session
        self._write = write
        self._known: dict[int, int | None] = {}  # positions, as they were last read or written
        self._numbers = itertools.count()
        self._row = session.prepare(
            "INSERT INTO results (partition, at, source, key, value) VALUES (?, ?, ?, ?, ?)"
        )
        self._move = session.prepare(
            "UPDATE results USING TIMESTAMP ? SET next = ? WHERE partition = ?"
        )
        self._move_if = session.prepare(
            "UPDATE results SET next = ? WHERE partition = ? IF next = ?"
        )
        self._read = session.prepare("SELECT next FROM results WHERE partition = ? LIMIT 1")
        if write == "lwt":
            self._read.consistency_level = ConsistencyLevel.SERIAL

    def next_of(self, partition: int) -> int:
        row = self._session.execute(self._read, (partition,)).one()
        self._known[partition] = None if row is None else row.next
        return self._known[partition] or 0

    def write(self, partition: int, records: list[Message]) -> bool:
        """False: another has moved the position; nothing of this batch was written."""
        after = (records[-1].offset() or 0) + 1
        if self._write == "lwt":
            return self._write_if(partition, records, after)
        for row in self._rows(partition, records):
            self._session.execute(self._row, row)
        self._session.execute(self._move, (after, after, partition))
        return True

    def _write_if(self, partition: int, records: list[Message], after: int) -> bool:
        batch = BatchStatement()
        batch.add(self._move_if, (after, partition, self._known[partition]))
        for row in self._rows(partition, records):
            batch.add(self._row, row)
        is_ours = bool(self._session.execute(batch).was_applied)
        self._known[partition] = after if is_ours else None
        return is_ours

    def _rows(self, partition: int, records: list[Message]) -> Iterator[tuple[Any, ...]]:
        for record in records:
            work()
            yield partition, self._key(record), record.offset(), record.key(), record.value()

    def _key(self, record: Message) -> str:
        """Both sort by when the record came."""
        if self._write == "keys":
            return f"{record.offset():020}"
        return f"{time.time_ns():020}-{next(self._numbers)}-{given('INSTANCE')}"


def main() -> int:
    ending = Ending()
    session = connect(os.environ[DATABASE_VARIABLE])
    results = Results(session, choice("write", WRITES))
    consumer = Consumer(consumer_settings())
    subscribe_from(consumer, results.next_of)
    say("started")
    while not ending.asked:
        records = records_of(consumer.consume(batch_max(), BATCH_WAIT_S))
        for partition, own in by_partition(records).items():
            try:
                is_written = results.write(partition, own)
            except (DriverException, NoHostAvailable) as error:  # written or not: the table knows
                say("refused", partition=partition, why=str(error))
                is_written = False
            if is_written:
                say("committed", partition=partition, records=len(own))
            else:
                read_on(consumer, partition, results.next_of)
    consumer.close()
    session.cluster.shutdown()
    say("stopped")
    return 0


if __name__ == "__main__":
    sys.exit(main())
