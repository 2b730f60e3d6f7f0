"""deleted-unread: DeleteRecords beyond the committed offset, which takes records nobody has passed.

    in-0   committed 120 ──────── DeleteRecords up to 150      120 to 149 are gone for a restart

Only for suspects that keep their position in the group, and for topics whose offsets they commit.
Markers and aborted records are passed without being read: in a topic that the suspect itself writes
to, a committed record must be shown to have been in between.
"""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from onceproof.checks.case import Case
from onceproof.checks.frames import (
    END,
    OFFSETS,
    PRODUCE,
    by_place,
    exchanges,
    is_done,
    is_empty,
    is_refused,
)

DELETE = "DeleteRecords"
PLAIN = "OffsetCommit"
ASKED = "OffsetFetch"
_PARTITION = ["topic", "partition"]


def find(case: Case) -> DataFrame:
    deletions = _deletions(exchanges(case, DELETE))
    if is_empty(deletions):
        return _told(deletions.limit(0).withColumn("committed_offset", F.col("deleted_offset")))
    rows = exchanges(case, PLAIN, OFFSETS, END, ASKED, PRODUCE)
    deleted = _against_committed(deletions, _commits(rows))
    beyond = deleted.where("deleted_offset > committed_offset")
    own = rows.where(F.col("api") == PRODUCE)
    own_topics = by_place(own, "places").select("topic", F.lit(True).alias("is_own")).distinct()
    between = F.col("written_offset").between(
        F.col("committed_offset"), F.col("deleted_offset") - 1
    )
    shown = (
        beyond.join(_kept(rows), on=_PARTITION, how="inner")
        .where(between)
        .groupBy("connection", "correlation_id", *_PARTITION)
        .agg(F.count("*").alias("shown"))
    )
    return _told(
        beyond.join(own_topics, on="topic", how="left")
        .join(shown, on=["connection", "correlation_id", *_PARTITION], how="left")
        .where("is_own IS NULL OR shown > 0")
    )


def _told(rows: DataFrame) -> DataFrame:
    return rows.select(
        "at_ns",
        F.col("topic").alias("deleted_topic"),
        F.col("partition").alias("deleted_partition"),
        "deleted_offset",
        "committed_offset",
        "instance",
    )


def _deletions(rows: DataFrame) -> DataFrame:
    """Each partition of a DeleteRecords, with deleted_offset: up to there, not including it."""
    asked = by_place(rows.where((F.col("api") == DELETE) & is_done()), "places")
    # −1 asks for the high watermark; only the answer tells what that was.
    answered = F.get(F.filter("answered_places", _is_place), 0)["offset"]
    up_to = F.when(F.col("offset") < 0, answered).otherwise(F.col("offset"))
    return asked.select(
        "connection",
        "correlation_id",
        "at_ns",
        "instance",
        *_PARTITION,
        up_to.alias("deleted_offset"),
    )


def _is_place(each: Column) -> Column:
    return (each["topic"] == F.col("topic")) & (each["partition"] == F.col("partition"))


def _commits(rows: DataFrame) -> DataFrame:
    """topic, partition, position, since_ns: what may have been committed, as early as can be."""
    plain = by_place(rows.where((F.col("api") == PLAIN) & ~is_refused()), "places")
    found = by_place(rows.where((F.col("api") == ASKED) & is_done()), "answered_places")
    sent = _with_end(rows, OFFSETS).where(~is_refused() & F.col("commit_ns").isNotNull())
    in_transactions = by_place(sent.withColumn("at_ns", F.col("commit_ns")), "places")
    columns = ("topic", "partition", "offset AS position", "at_ns AS since_ns")
    return (
        plain.selectExpr(*columns)
        .unionByName(found.selectExpr(*columns))
        .unionByName(in_transactions.selectExpr(*columns))
        .where("position >= 0")
    )


def _with_end(rows: DataFrame, api: str) -> DataFrame:
    """Frames of transactions: commit_ns, the first commit after it; end, whatever came first."""
    by_time = Window.partitionBy("producer_id", "producer_epoch").orderBy("at_ns")
    after = by_time.rowsBetween(1, Window.unboundedFollowing)
    is_end = F.col("api") == END
    may_commit = is_end & F.col("committed") & ~is_refused()
    end = F.struct((F.col("committed") & is_done()).alias("kept"))
    return (
        rows.where(F.col("api").isin(api, END) & F.col("transactional_id").isNotNull())
        .withColumn("commit_ns", F.min(F.when(may_commit, F.col("at_ns"))).over(after))
        .withColumn("end", F.first(F.when(is_end, end), ignorenulls=True).over(after))
        .where(F.col("api") == api)
    )


def _kept(rows: DataFrame) -> DataFrame:
    """topic, partition, written_offset: first records of what the suspect wrote for good."""
    in_transactions = _with_end(rows, PRODUCE).where("end.kept").drop("commit_ns", "end")
    alone = rows.where((F.col("api") == PRODUCE) & F.col("transactional_id").isNull())
    written = by_place(in_transactions.unionByName(alone).where(is_done()), "answered_places")
    return written.select(*_PARTITION, F.col("offset").alias("written_offset"))


def _against_committed(deletions: DataFrame, commits: DataFrame) -> DataFrame:
    """Deletions in topics whose offsets are committed, with the highest committed before each."""
    was_before = F.when(F.col("since_ns") < F.col("at_ns"), F.col("position"))
    return (
        deletions.join(commits.select("topic").distinct(), on="topic", how="left_semi")
        .join(commits, on=_PARTITION, how="left")
        .groupBy(*deletions.columns)
        .agg(F.coalesce(F.max(was_before), F.lit(0)).alias("committed_offset"))
    )


def tell(facts: Mapping[str, Any]) -> str:
    where = f"{facts['deleted_topic']}-{facts['deleted_partition']}"
    return (
        f"{where} was deleted up to {facts['deleted_offset']}, but only "
        f"{facts['committed_offset']} had been committed; a restart would have missed what was "
        f"between: deleted-unread."
    )
