"""commit-without-offsets: a transaction that commits output, but not the offsets it was made of.

    Produce out-0 ── TxnOffsetCommit ── EndTxn commit      as it should be
    Produce out-0 ───────────────────── EndTxn commit      a crash here: the input is read again

Only for suspects that keep their position in the group and write in transactions only. Whatever was
sent between two EndTxn of one producer id and epoch is one transaction; offsets that were sent
count unless the broker is known to have refused them.
"""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from onceproof.checks.case import Case
from onceproof.checks.frames import END, OFFSETS, PRODUCE, exchanges, is_done, is_refused
from onceproof.checks.wording import place

OUTPUT_TOPICS_MAX = 100


def find(case: Case) -> DataFrame:
    by_time = Window.partitionBy("producer_id", "producer_epoch").orderBy("at_ns")
    before = by_time.rowsBetween(Window.unboundedPreceding, -1)
    is_end = F.col("api") == END
    rows = exchanges(case, PRODUCE, OFFSETS, END).select(
        "*",
        F.coalesce(F.sum(is_end.cast("int")).over(before), F.lit(0)).alias("number"),
        F.when((F.col("api") == PRODUCE) & is_done(), _first_output(case)).alias("output"),
        ((F.col("api") == OFFSETS) & ~is_refused()).alias("has_offsets"),
        F.when(is_end & F.col("committed") & is_done(), F.col("at_ns")).alias("committed_ns"),
    )
    is_output = F.col("output").isNotNull()
    return (
        rows.groupBy("producer_id", "producer_epoch", "number")
        .agg(
            F.max("committed_ns").alias("at_ns"),
            F.max("transactional_id").alias("transactional_id"),
            F.max("instance").alias("instance"),
            F.count_if(is_output).alias("writes"),
            F.count_if("has_offsets").alias("offsets"),
            F.min_by("output", F.when(is_output, F.col("at_ns"))).alias("output"),
        )
        .where("at_ns IS NOT NULL AND writes > 0 AND offsets = 0")
        .select(
            "at_ns",
            "output.*",
            "transactional_id",
            "producer_id",
            F.col("producer_epoch").cast("int").alias("epoch"),
            "instance",
            "writes",
        )
    )


def _first_output(case: Case) -> Column:
    """The first place of a Produce that is of the output; null if none is."""
    rows = case.observed.select("topic").distinct().limit(OUTPUT_TOPICS_MAX).collect()
    topics = [row["topic"] for row in rows]
    return F.get(F.filter("answered_places", lambda each: each["topic"].isin(topics)), 0)


def tell(facts: Mapping[str, Any]) -> str:
    return (
        f"{facts['transactional_id']} (producer {facts['producer_id']}, epoch {facts['epoch']}) "
        f"committed output from {place(facts)} on (Produce: {facts['writes']}) and no offsets "
        f"with it; after a crash its input is read again: commit-without-offsets."
    )
