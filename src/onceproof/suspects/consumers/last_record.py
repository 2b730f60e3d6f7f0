"""The true last record of a partition, and others by their offset: assign, seek, poll to the end.

    @40 record   @41 COMMIT   @42 record (aborted)   @43 ABORT      end: 44
      ▲ the last record that counts; `end − 1` and `end − 2` are none

A single poll after a seek may give nothing although the record is there: what counts is the end
of the partition, which the client tells.
"""

import json
from collections.abc import Iterator
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from onceproof.deadline import Deadline, pause
from onceproof.suspects.consumers.contract import CALL_S, connection, given

REACH = 8
GROWTH = 8
ASK_S = 5.0
AGAIN_S = 0.2
END_WAIT_MS = 10  # at the end of a partition a broker waits for more before it answers


class Reader:
    def __init__(self) -> None:
        self._consumer = _client()

    def last(self, topic: str, partition: int) -> Any:
        """As JSON; None: there is none."""
        place = TopicPartition(topic, partition)
        low, high = self._watermarks(place)
        reach = REACH
        while low < high:
            begin = max(low, high - reach)
            found = list(self._from(topic, partition, begin))
            if found:
                return json.loads(found[-1].value() or b"null")
            if begin == low:
                break
            reach *= GROWTH
        return None

    def at(self, topic: str, partition: int, offset: int) -> Any:
        return json.loads(next(self._from(topic, partition, offset)).value() or b"null")

    def between(self, topic: str, partition: int, begin: int, end: int) -> Iterator[Message]:
        """From `begin` up to `end`, without it."""
        if begin >= end:
            return
        for record in self._from(topic, partition, begin):
            if (record.offset() or 0) >= end:
                return
            yield record

    def _watermarks(self, place: TopicPartition) -> tuple[int, int]:
        """A client that is asked just when a broker goes may know its partitions no more, and that
        for good ("Unknown partition"): a new one asks the successor.
        """
        patience = Deadline(CALL_S)
        while True:
            try:
                return self._consumer.get_watermark_offsets(place, ASK_S)
            except KafkaException:
                if patience.expired():
                    raise
                pause(AGAIN_S)
                self._consumer = _client()

    def _from(self, topic: str, partition: int, offset: int) -> Iterator[Message]:
        """All records up to the end of the partition."""
        self._consumer.assign([TopicPartition(topic, partition, offset)])
        while True:
            message = self._consumer.poll(CALL_S)
            if message is None:
                raise SystemExit(f"{topic}-{partition} could not be read from {offset} on")
            error = message.error()
            if error is None:
                yield message
            elif error.code() == KafkaError._PARTITION_EOF:
                return


def _client() -> Consumer:
    return Consumer(
        {
            **connection(),
            "group.id": f"{given('APP_ID')}-reader",  # never joined, never committed
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "enable.partition.eof": True,
            "fetch.wait.max.ms": END_WAIT_MS,
        }
    )
