"""Runs on driver and executors. The last committed entry of a ledger partition; call it fenced.

Read only after a fence: then nobody else can add to that partition any more, and the last entry
below the high watermark is the last one there will be. The other order (restore, then fence) loses
the entry that a predecessor commits in between.

log start ········· entries, markers, aborted entries ········· high watermark
                                  ◀── 64 back, 512 back, … until an entry is found

A broker that was cut off, and does not know that it leads no more, tells an old end. So the end
that was read is kept: what is written on the strength of it must lie there (`require_end`).
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Lock, Timer

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from onceproof.sink.budget import Budget, pause
from onceproof.sink.errors import FencedError, LaneError, SilentError
from onceproof.sink.ledger.entries import Entry, read_entry
from onceproof.sink.producing.refusals import failure, is_final
from onceproof.sink.settings import Settings

READ_S_MAX = 60.0
# A kept client may wait for ever on a connection that broke when a broker was away: a new one finds
# its way at once.
SILENCE_S_MAX = 5.0
END_S_MAX = 30.0  # for the end alone: several new clients, one after the other
# A new client may lose 0.7 s until it has found a partition's leader (it asks again after 0.1, 0.2
# and 0.4 s), unless it was told before; and a second until it begins to fetch, unless it is woken.
INTRODUCTION_S_MAX = 2.0
FIRST_POLL_S = 0.05
WAKING_S = 0.1
FIRST_LOOK_BACK = 64  # entries are followed by a marker, aborted ones lie between: enough at once
PAUSE_S = 0.1
IDLE_S_MAX = 60.0

_MAY_PASS = {
    # librdkafka looks for the coordinator of a group that we never join.
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    # A ledger that was just made, or has grown, is not known to every broker at once.
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError._UNKNOWN_TOPIC,
    KafkaError._UNKNOWN_PARTITION,
}

# librdkafka prints each refused connection to stderr unless it is given a logger.
client_log = logging.getLogger("onceproof.sink.librdkafka")
client_log.addHandler(logging.NullHandler())


@dataclass(frozen=True, kw_only=True)
class LastWord:
    """The last entry of a partition, and where the next record of it will lie."""

    entry: Entry | None
    end: int


class LedgerReader:
    """Two consumers outside any group: one knows the high watermark, one what is committed."""

    def __init__(self, settings: Settings) -> None:
        self._topic = settings.ledger_topic
        self._marks = Consumer(settings.reader("read_uncommitted"), logger=client_log)
        self._entries = Consumer(settings.reader("read_committed"), logger=client_log)
        for client in (self._marks, self._entries):
            with suppress(KafkaException):  # told when it is asked for more
                client.list_topics(self._topic, timeout=INTRODUCTION_S_MAX)

    def end(self, partition: int) -> int:
        return self._watermarks(TopicPartition(self._topic, partition), Budget(SILENCE_S_MAX))[1]

    def last_word(self, partition: int, silence_s: float = READ_S_MAX) -> LastWord:
        """SilentError after so many seconds in which nothing was heard."""
        place = TopicPartition(self._topic, partition)
        budget, silence = Budget(READ_S_MAX), Budget(silence_s)
        low, high = self._watermarks(place, silence)
        look_back = FIRST_LOOK_BACK
        try:
            while high > low:
                start = max(low, high - look_back)
                found = self._last_between(place, start, high, budget, Budget(silence_s))
                if found.entry is not None or start == low:
                    return found
                look_back *= 8  # only markers and aborted entries so far: further back
            return LastWord(entry=None, end=high)
        finally:
            self._entries.unassign()  # or it would go on fetching until it is used again

    def close(self) -> None:
        self._marks.close()
        self._entries.close()

    def _watermarks(self, place: TopicPartition, budget: Budget) -> tuple[int, int]:
        """Log start and high watermark: a consumer is told them by its own isolation level."""
        while True:
            try:
                low, high = self._marks.get_watermark_offsets(place, timeout=budget.left_s() + 0.1)
                return low, high
            except KafkaException as error:
                cause = error.args[0]
                told = failure(f"watermarks of ledger {_named(place)}", cause.code(), cause.str())
                if _is_final(cause.code()):
                    raise told from error
                if budget.spent():
                    raise SilentError(told) from error
                pause(PAUSE_S)

    def _last_between(
        self, place: TopicPartition, start: int, high: int, budget: Budget, silence: Budget
    ) -> LastWord:
        """Read from `start` until the last stable offset has reached `high`, however long it takes.

        An entry hidden behind an open transaction is not "no entry": only an end-of-partition at or
        beyond the high watermark says that everything below it has been seen.
        """
        # A plain number: the name "beginning" costs librdkafka a look-up and half a second.
        self._entries.assign([TopicPartition(place.topic, place.partition, start)])
        last, is_heard = None, False
        while not budget.spent():
            wait_s = 1.0 if is_heard else FIRST_POLL_S
            message = self._entries.poll(min(wait_s, budget.left_s()))
            if message is None:
                if silence.spent() and not is_heard:
                    raise SilentError(LaneError(f"ledger {_named(place)}: no answer"))
                if not is_heard:
                    self._wake(place)
                continue
            is_heard = True
            problem, offset, value = message.error(), message.offset() or 0, message.value()
            if problem is None and value is not None:
                last = read_entry(value)
                if offset + 1 >= high:
                    return LastWord(entry=last, end=offset + 1)
            elif problem is None:
                raise LaneError(f"ledger {_named(place)}@{offset} has no value")
            elif problem.code() == KafkaError._PARTITION_EOF:
                if offset >= high:
                    return LastWord(entry=last, end=offset)
            elif _is_final(problem.code()) or problem.fatal():
                raise failure(f"ledger {_named(place)}", problem.code(), problem.str())
        raise LaneError(
            f"ledger {_named(place)} was not stable up to offset {high} after"
            f" {READ_S_MAX:.0f} s; an open transaction holds it"
        )

    def _wake(self, place: TopicPartition) -> None:
        """The thread that should fetch may sleep beside it: a request gets it up."""
        with suppress(KafkaException):
            self._entries.get_watermark_offsets(place, timeout=WAKING_S)


def _is_final(code: int) -> bool:
    return is_final(code) and code not in _MAY_PASS


def _named(place: TopicPartition) -> str:
    return f"{place.topic}-{place.partition}"


# Spark keeps its Python workers from batch to batch, and a reader's connections with them.
_idle: dict[Settings, list[tuple[LedgerReader, Timer]]] = {}
_idle_lock = Lock()


@contextmanager
def borrowed_reader(settings: Settings, *, new: bool = False) -> Iterator[LedgerReader]:
    """A reader for one thread. One that failed, or was idle for long, is not used again."""
    with _idle_lock:
        shelf = _idle.setdefault(settings, [])
        kept = shelf.pop() if shelf and not new else None
    if kept is not None:
        kept[1].cancel()
    reader = kept[0] if kept is not None else LedgerReader(settings)
    try:
        yield reader
    except BaseException:
        reader.close()
        raise
    _put_back(settings, reader)


def _put_back(settings: Settings, reader: LedgerReader) -> None:
    expiry = Timer(IDLE_S_MAX, lambda: _expire(settings, reader))
    expiry.daemon = True
    with _idle_lock:
        _idle[settings].append((reader, expiry))
    expiry.start()


def _expire(settings: Settings, reader: LedgerReader) -> None:
    """Only if nobody has taken it from the shelf meanwhile."""
    with _idle_lock:
        shelf = _idle[settings]
        left = [kept for kept in shelf if kept[0] is not reader]
        is_ours = len(left) < len(shelf)
        shelf[:] = left
    if is_ours:
        reader.close()


def last_word(settings: Settings, partition: int, *, new: bool = False) -> LastWord:
    """`new`: by a client that knows nothing yet, of a leader that leads no more least of all."""
    with suppress(SilentError), borrowed_reader(settings, new=new) as reader:
        return reader.last_word(partition, SILENCE_S_MAX)
    try:
        with borrowed_reader(settings, new=True) as reader:
            return reader.last_word(partition)
    except SilentError as silent:
        raise silent.told from silent


def last_entry(settings: Settings, partition: int) -> Entry | None:
    return last_word(settings, partition).entry


def require_end(settings: Settings, partition: int, end: int) -> None:
    """LaneError unless the partition ends there.

    Beyond it: somebody's entry was not seen when it was read. Before it: whoever we ask does not
    lead the partition any more, though our own entry has arrived; a new client may find who does.
    """
    budget, is_first = Budget(END_S_MAX), True
    while True:
        try:
            with borrowed_reader(settings, new=not is_first) as reader:
                return _require_end(reader, settings, partition, end)
        except SilentError as silent:
            if budget.spent():
                raise silent.told from silent
        is_first = False
        pause(PAUSE_S)


def _require_end(reader: LedgerReader, settings: Settings, partition: int, end: int) -> None:
    found = reader.end(partition)
    if found == end:
        return
    told = (
        f"ledger {settings.ledger_topic}-{partition} ends at {found}; expected {end}: it was"
        " read from a broker that did not lead it any more, or others write to it"
    )
    if found < end:
        raise SilentError(LaneError(told))
    raise FencedError(told)  # by a twin, as a rule: what lies there is the end of our transaction
