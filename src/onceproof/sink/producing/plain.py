"""A transaction through confluent-kafka's own Producer, record by record.

The path that always works: taken where the C library cannot be reached, or where the user asked
for it.
"""

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from confluent_kafka import KafkaError, KafkaException, Producer

from onceproof.sink.budget import Budget, pause
from onceproof.sink.errors import RefusedError, SinkError
from onceproof.sink.producing.librdkafka import FATAL, PURGED, STATE
from onceproof.sink.producing.refusals import failure, is_final
from onceproof.sink.producing.transaction import (
    ABORT_S_MAX,
    COMMIT_S_MAX,
    INIT_S_MAX,
    QUEUE_FULL_WAIT_S,
    RETRY_PAUSE_S,
    Record,
    named_topics,
    records_of,
    refuse_rows_without_topic,
    timeout_s,
    undelivered,
)

if TYPE_CHECKING:
    import pyarrow

SERVE_DELIVERIES_EVERY = 1000

_log = logging.getLogger("onceproof.sink.librdkafka")
_log.addHandler(logging.NullHandler())


class PlainTransaction:
    """See `Transaction`."""

    def __init__(self, configuration: Mapping[str, str]) -> None:
        self.transactional_id = configuration["transactional.id"]
        self._timeout_s = timeout_s(configuration)
        self._rows = 0
        self._topics: set[str] = set()
        self._failed: KafkaError | None = None
        self._is_purged = False  # a record was thrown away by librdkafka, not for its own sake
        # librdkafka prints each refused connection to stderr unless it is given a logger.
        self._producer: Any = self._new_producer(configuration)
        # Without a connection init_transactions waits for a timer of half a second; this makes one.
        self._patiently(
            lambda left: self._producer.list_topics(timeout=left), INIT_S_MAX, "connect"
        )
        self._patiently(self._producer.init_transactions, INIT_S_MAX, "init_transactions")

    def _new_producer(self, configuration: Mapping[str, str]) -> Producer:
        try:
            return Producer(dict(configuration), logger=_log)
        except KafkaException as error:
            raise SinkError(f"producer {self.transactional_id}: {error.args[0].str()}") from error

    def begin(self) -> None:
        try:
            self._producer.begin_transaction()
        except KafkaException as error:
            raise self._failure("begin_transaction", error.args[0]) from error

    def produce_rows(self, rows: "pyarrow.RecordBatch", topic: str | None) -> None:
        refuse_rows_without_topic(rows, topic)
        for record in records_of(rows, topic):
            self.produce_record(record)

    def produce_record(self, record: Record) -> None:
        if any(name is None for name, _ in record.headers):
            raise RefusedError(f"record {self._rows + 1}: a header has no name")
        place = {} if record.partition is None else {"partition": record.partition}
        while True:
            try:
                self._producer.produce(
                    topic=record.topic,
                    key=record.key,
                    value=record.value,
                    headers=list(record.headers) or None,
                    on_delivery=self._delivered,
                    **place,
                )
                break
            except BufferError:
                self._served(self._producer.poll, QUEUE_FULL_WAIT_S)
            except KafkaException as error:
                if error.args[0].code() == STATE:
                    self.flush()  # tells why librdkafka has given the transaction up
                raise self._failure("produce", error.args[0]) from error
        self._rows += 1
        self._topics.add(record.topic)
        if self._rows % SERVE_DELIVERIES_EVERY == 0:
            self._served(self._producer.poll, 0.0)

    def flush(self) -> None:
        left = self._served(self._producer.flush, self._timeout_s)
        if self._is_purged:
            # librdkafka has given the transaction up, and says why when it refuses to commit it.
            self.commit()
        if self._failed is not None:
            raise self._failure(f"delivery to {named_topics(self._topics)}", self._failed)
        if left:
            raise undelivered(self.transactional_id, left, self._timeout_s)

    def commit(self) -> None:
        what = f"commit_transaction to {named_topics(self._topics)}"
        self._patiently(self._producer.commit_transaction, COMMIT_S_MAX, what)

    def abandon(self) -> None:
        try:
            self._producer.abort_transaction(ABORT_S_MAX)
        except KafkaException as error:
            _log.warning("abort of %s left to the next fence: %s", self.transactional_id, error)

    def close(self) -> None:
        """The producer ends with its last reference."""
        self._producer = None

    def _delivered(self, error: KafkaError | None, _message: object) -> None:
        if error is not None and error.code() in PURGED:
            self._is_purged = True
        elif error is not None and self._failed is None:
            self._failed = error

    def _served(self, call: Callable[[float], int], seconds: float) -> int:
        """confluent-kafka raises a fatal error in whatever call serves its callbacks; if it calls
        one of them before it returns, Python finds the two at odds, and raises a SystemError of it.
        """
        try:
            return call(seconds)
        except (KafkaException, SystemError) as error:
            cause = error if isinstance(error, KafkaException) else error.__cause__
            if not isinstance(cause, KafkaException):
                raise
            what = f"delivery to {named_topics(self._topics)}"
            raise self._failure(what, cause.args[0]) from error

    def _patiently(self, call: Callable[[float], object], seconds: float, what: str) -> None:
        budget = Budget(seconds)
        while True:
            try:
                call(max(0.1, budget.left_s()))
                return
            except KafkaException as error:
                cause = error.args[0]
                final = is_final(cause.code()) or not cause.retriable()
                if self._failed is not None or final or budget.spent():
                    raise self._failure(what, self._failed or cause) from error
                pause(RETRY_PAUSE_S)

    def _failure(self, what: str, cause: KafkaError) -> SinkError:
        told = self._fatal(cause) if cause.code() == FATAL else cause
        return failure(f"{what} of {self.transactional_id}", told.code(), told.str())

    def _fatal(self, cause: KafkaError) -> KafkaError:
        """What it was in the first place: whatever a given-up transaction is asked for tells it."""
        try:
            self._producer.abort_transaction(ABORT_S_MAX)
        except KafkaException as error:
            cause = error.args[0]
        return cause
