"""One transaction with one producer: fence, write, commit; every error told apart by what may
follow it.

A new producer for each transaction: librdkafka allows one init_transactions per producer, and each
init bumps the epoch, so that a delayed EndTxn of an earlier transaction is refused (KAFKA-17754).
"""

import logging
from collections.abc import Callable
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Producer

from onceproof.sink.budget import Budget, pause
from onceproof.sink.errors import LaneError

COMMIT_S_MAX = 120.0
INIT_S_MAX = 60.0
ABORT_S_MAX = 10.0
QUEUE_FULL_WAIT_S = 0.05
RETRY_PAUSE_S = 0.1

_log = logging.getLogger("onceproof.sink.librdkafka")
_log.addHandler(logging.NullHandler())


class Transaction:
    """Made = fenced: nobody who used this transactional id before can commit any more."""

    def __init__(self, configuration: dict[str, Any]) -> None:
        self.transactional_id = configuration["transactional.id"]
        self._failed: KafkaError | None = None
        # librdkafka prints each refused connection to stderr unless it is given a logger.
        self._producer = Producer(configuration, logger=_log)
        # Without a connection init_transactions waits for a timer of half a second; this makes one.
        self._patiently(
            lambda left: self._producer.list_topics(timeout=left), INIT_S_MAX, "connect"
        )
        self._patiently(self._producer.init_transactions, INIT_S_MAX, "init_transactions")

    def begin(self) -> None:
        self._producer.begin_transaction()

    def produce(self, **record: Any) -> None:
        while True:
            try:
                self._producer.produce(**record, on_delivery=self._delivered)
                return
            except BufferError:
                self._producer.poll(QUEUE_FULL_WAIT_S)
            except KafkaException as error:
                raise self._failure("produce", error.args[0]) from error

    def serve_deliveries(self) -> None:
        self._producer.poll(0)

    def commit(self) -> None:
        """Commit, or raise: after that the outcome is for the next fence-and-read to find out."""
        self._patiently(self._producer.commit_transaction, COMMIT_S_MAX, "commit_transaction")
        if self._failed is not None:  # cannot be: a commit flushes and fails on a failed record
            raise self._failure("delivery", self._failed)

    def abandon(self) -> None:
        """Abort as far as possible; what cannot be aborted is fenced by the next attempt."""
        try:
            self._producer.abort_transaction(ABORT_S_MAX)
        except KafkaException as error:
            _log.warning("abort of %s left to the next fence: %s", self.transactional_id, error)

    def _delivered(self, error: KafkaError | None, _message: object) -> None:
        if error is not None and self._failed is None:
            self._failed = error

    def _patiently(self, call: Callable[[float], object], seconds: float, what: str) -> None:
        budget = Budget(seconds)
        while True:
            try:
                call(max(0.1, budget.left_s()))
                return
            except KafkaException as error:
                cause = error.args[0]
                if not cause.retriable() or budget.spent():
                    raise self._failure(what, self._failed or cause) from error
                pause(RETRY_PAUSE_S)

    def _failure(self, what: str, cause: KafkaError) -> LaneError:
        return LaneError(
            f"{what} of transactional id {self.transactional_id} failed: {cause.str()}"
        )
