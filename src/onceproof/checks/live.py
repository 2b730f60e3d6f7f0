"""The live validator: the judge's own checks on the output while it is being written.

    output topic ──read_committed, every 2 s──▶ new rows ─┐
                                                          ├─▶ checks ──first finding──▶ on_finding
    rows of before that still matter (carry) ─────────────┘        │
                 ▲─────────────────────────────────────────────────┘

It only lets a long run stop early: the verdict is the judge's, who sees everything. It takes what
it has seen for the input (each unit once, in its own order) until something is found; then `truth`,
the input as read back, decides whether to say so. A crash stops it and is reported by `crash`.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from onceproof.checks.case import Case
from onceproof.checks.catalog import CHECKS
from onceproof.checks.judge import examine
from onceproof.history.finding import Finding
from onceproof.history.schemas import OBSERVED
from onceproof.history.topic_records import READ_COMMITTED, as_records

TRIGGER = "2 seconds"
SHUFFLE_PARTITIONS = "2"
LIVE_CHECKS = ("regressed", "duplicated", "reordered", "stale")
# A crash makes a suspect repeat what it did last: older rows than these are left to the judge.
CARRIED_OFFSETS_MAX = 500_000
CRASH_LENGTH_MAX = 2_000


class LiveValidator:
    """Start it, ask `finding` and `crash` now and then, stop it. Runs on the driver."""

    def __init__(
        self,
        *,
        spark: SparkSession,
        topic: str,
        options: Mapping[str, str],
        observed: Callable[[DataFrame], DataFrame],
        checkpoint: Path,
        truth: Callable[[SparkSession], DataFrame] | None = None,
        cumulative: bool = False,
        ordered: bool = True,
        names: Sequence[str] = LIVE_CHECKS,
        on_finding: Callable[[Finding], None] | None = None,
    ) -> None:
        # A session of its own: few shuffle partitions here, whatever the judge has.
        self._spark = spark.newSession()
        self._spark.conf.set("spark.sql.shuffle.partitions", SHUFFLE_PARTITIONS)
        self._topic = topic
        self._options = dict(options)
        self._observed = observed
        self._truth = truth
        self._checkpoint = checkpoint
        self._cumulative = cumulative
        self._ordered = ordered
        self._names = tuple(names)
        self._on_finding = on_finding
        self._carry: DataFrame | None = None
        self._finding: Finding | None = None
        self._query: StreamingQuery | None = None
        self._lock = threading.Lock()
        self.batches_judged = 0

    def start(self) -> None:
        """From the topic's first record on, so that it does not matter when it is started."""
        rows = (
            self._spark.readStream.format("kafka")
            .options(**self._options)
            .option("subscribe", self._topic)
            .option("startingOffsets", "earliest")
            .option("kafka.isolation.level", READ_COMMITTED)
            .load()
        )
        self._query = (
            as_records(rows)
            .writeStream.foreachBatch(self._look)
            .option("checkpointLocation", str(self._checkpoint))
            .trigger(processingTime=TRIGGER)
            .start()
        )

    def finding(self) -> Finding | None:
        with self._lock:
            return self._finding

    def crash(self) -> str | None:
        """Why it looks no more, if it broke down; None while all is well."""
        failure = self._query.exception() if self._query else None
        return None if failure is None else str(failure)[:CRASH_LENGTH_MAX]

    def stop(self) -> None:
        if self._query is not None:
            self._query.stop()

    def _look(self, records: DataFrame, batch: int) -> None:  # noqa: ARG002 - Spark hands it over
        if self.finding() is not None:
            return
        fresh = self._observed(records)
        seen = (fresh if self._carry is None else self._carry.unionByName(fresh)).cache()
        try:
            found = self._first_finding(seen)
            if found is not None:
                with self._lock:
                    self._finding = found
                if self._on_finding is not None:
                    self._on_finding(found)
            self._carry_over(seen)
            self.batches_judged += 1
        finally:
            seen.unpersist()

    def _first_finding(self, seen: DataFrame) -> Finding | None:
        case = Case(
            expected=presumed(seen),
            observed=seen,
            cumulative=self._cumulative,
            ordered=self._ordered,
        )
        for check in (CHECKS[name] for name in self._names):
            finding = examine(case, check) if check.applies(case) else None
            if finding and self._truth is not None:
                finding = examine(replace(case, expected=self._truth(seen.sparkSession)), check)
            if finding:
                return finding
        return None

    def _carry_over(self, seen: DataFrame) -> None:
        """Keep what later rows are compared with; cut off from how it came about."""
        kept = newest_states(seen) if self._cumulative else recent_rows(seen)
        self._carry = kept.localCheckpoint(eager=True)


def presumed(seen: DataFrame) -> DataFrame:
    """EXPECTED as far as the output itself tells: each unit once, in the order of its ordinal."""
    first = F.min(F.struct("topic", "partition", "offset", "key", "payload", "ordinal"))
    units = seen.where("unit IS NOT NULL").groupBy("unit").agg(first.alias("first"))
    return units.selectExpr(
        "unit",
        "first.key AS key",
        "first.ordinal AS ordinal",
        "first.payload AS payload",
        "1L AS allowed",
        "'input' AS input_topic",
        "0 AS input_partition",
        "first.ordinal AS input_offset",
        "first.ordinal AS input_offset_last",
    )


def newest_states(seen: DataFrame) -> DataFrame:
    """The highest state of each key in each partition: what a later one must not fall behind."""
    highest = F.max_by(F.struct("*"), F.struct("ordinal", "level"))
    states = seen.where("unit IS NOT NULL").groupBy("topic", "partition", "key")
    return _without_value(states.agg(highest.alias("row")).select("row.*"))


def recent_rows(seen: DataFrame) -> DataFrame:
    """The rows near the end of each partition: what a later one may repeat or come too late for."""
    whole = Window.partitionBy("topic", "partition").rowsBetween(
        Window.unboundedPreceding, Window.unboundedFollowing
    )
    near_end = F.col("offset") > F.max("offset").over(whole) - CARRIED_OFFSETS_MAX
    return _without_value(seen.withColumn("near_end", near_end).where("near_end"))


def _without_value(rows: DataFrame) -> DataFrame:
    """OBSERVED with the one wide column that no live check reads left empty."""
    columns = [name.split()[0] for name in OBSERVED.split(",")]
    return rows.withColumn("value", F.lit(None).cast("string")).select(*columns)
