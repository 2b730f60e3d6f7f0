"""No guarantee at all: the client commits by itself, now and then, whatever it has handed out.

    poll ──▶ produce ──▶ flush ──▶ poll …            a batch that is killed half way is lost,
       └──▶ stored ──every 200 ms──▶ committed       or comes again: it depends on the clock

The Java client commits inside poll(), and so only what an earlier poll() gave: at least once, as
long as all of it is processed in between. librdkafka stores an offset when it hands the record out
and commits in a thread of its own. With `--set processing=thread` the work is handed to another
thread, which loses records with either client.
"""

import queue
import sys
import threading

from confluent_kafka import Consumer, Message, Producer

from onceproof.suspects.consumers.contract import (
    BATCH_WAIT_S,
    CALL_S,
    Ending,
    batch_max,
    choice,
    consumer_settings,
    copy_out,
    producer_settings,
    records_of,
    say,
    setting,
    subscribe,
)

PLACES = ("loop", "thread")
BATCHES_HANDED_OVER_MAX = 20


def main() -> int:
    ending = Ending()
    producer = Producer(producer_settings(**{"enable.idempotence": True}))
    interval_ms = int(setting("commit_interval_ms", "200"))
    consumer = Consumer(
        consumer_settings(**{"enable.auto.commit": True, "auto.commit.interval.ms": interval_ms})
    )
    subscribe(consumer)
    handed = _Handed(producer) if choice("processing", PLACES) == "thread" else None
    say("started")
    while not ending.asked:
        records = records_of(consumer.consume(batch_max(), BATCH_WAIT_S))
        if records and handed is not None:
            handed.batches.put(records)
        elif records:
            copy_out(producer, records)
            say("progress", records=len(records))
    if handed is not None:
        handed.finish()
    consumer.close()
    say("stopped")
    return 0


class _Handed:
    """Work in another thread: the loop polls on, and what it polled is stored as done."""

    def __init__(self, producer: Producer) -> None:
        self.batches: queue.Queue[list[Message]] = queue.Queue(BATCHES_HANDED_OVER_MAX)
        self._producer = producer
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def _work(self) -> None:
        while records := self.batches.get():
            copy_out(self._producer, records)

    def finish(self) -> None:
        self.batches.put([])
        self._thread.join(CALL_S)


if __name__ == "__main__":
    sys.exit(main())
