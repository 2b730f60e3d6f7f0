"""Runs on the driver. Whether Spark's JVM is to write: looked at once, and taken back if it fails.

What it failed at is Python's, which knows each error by name; after three batches in a row
everything is.
"""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from onceproof.sink.errors import LaneError
from onceproof.sink.execution import speculates
from onceproof.sink.jvm.program import NoProgramError, Program, program_for
from onceproof.sink.jvm.settings import only_pythons
from onceproof.sink.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FAILURES_MAX = 3
# Of ours or of Kafka's client; any other is the query's own affair.
_NOT_THERE = re.compile(
    r"(NoClassDefFoundError|ClassNotFoundException|UnsupportedClassVersionError): "
    r"(onceproof|org[./]apache[./]kafka)"
)
_log = logging.getLogger("onceproof.sink")


class Access:
    def __init__(self) -> None:
        self._program: Program | None = None
        self._is_decided = False
        self._failures = 0  # batches in a row
        self._failed_batch: int | None = None  # counted once, however often it was tried

    def program(self, session: "SparkSession", settings: Settings) -> Program | None:
        """None: rows go through Python; why is logged."""
        if not self._is_decided and settings.jvm:
            try:
                self._program = _program(session, dict(settings.options))
            except NoProgramError as why:
                _log.info("sink %s: rows go through Python: %s", settings.sink_id, why)
        self._is_decided = True
        if self._program is not None and self._failures >= FAILURES_MAX:
            _log.warning(
                "sink %s: %d batches in a row could not be written by Spark's JVM and were taken up"
                " by Python; from now on rows go through Python",
                settings.sink_id,
                self._failures,
            )
            self._program = None
        return self._program

    def has_failed_at(self, batch: int) -> bool:
        return self._failed_batch == batch

    def begin(self, batch: int) -> None:
        """Counts as failed until it is known better."""
        self._failures += batch != self._failed_batch
        self._failed_batch = batch

    def succeed(self) -> None:
        self._failures, self._failed_batch = 0, None


@contextmanager
def told_if_not_there(batch: int) -> Iterator[None]:
    """LaneError where Spark's JVMs lack a class: executors may lack what the driver has."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        if _NOT_THERE.search(str(error)):
            raise LaneError(f"batch {batch}: Spark's JVMs lack a class: {error}") from error
        raise


def _program(session: "SparkSession", options: dict[str, str]) -> Program:
    if speculates(session):
        raise NoProgramError("with spark.speculation a fenced task waits for its twin")
    program = program_for(session)
    strangers = only_pythons(options, program.producer_settings)
    if strangers:
        raise NoProgramError(f"Java's client has no {', '.join(strangers)}")
    return program
