"""zombie-write: a write of an epoch that had been fenced, accepted by the broker all the same.

    InitProducerId ──▶ epoch 4 of producer 4000
                                     Produce of epoch 3 ──▶ accepted      zombie-write
                                     Produce of epoch 3 ──▶ error 47      as it should be

Only a request that came to the proxy after the later epoch had been handed out counts: the broker
cannot have seen it before. A broker acknowledges the retry of a batch it has, whatever the epoch:
so nothing counts that may be a batch sent before the fence, once more.
"""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from onceproof.checks.case import Case
from onceproof.checks.frames import (
    INIT,
    NS,
    PRODUCE,
    by_place,
    exchanges,
    handed_out,
    is_done,
    is_empty,
)
from onceproof.checks.wording import place

_BATCH = ("producer_id", "producer_epoch", "topic", "partition")


def find(case: Case) -> DataFrame:
    rows = exchanges(case, INIT, PRODUCE)
    produced = by_place(
        rows.where(F.col("api") == PRODUCE), F.coalesce("answered_places", "places")
    )
    late = _after_the_fence(produced.where(is_done()), handed_out(rows))
    if is_empty(late):
        return _told(late.limit(0))
    earlier = produced.select(
        *_BATCH,
        F.col("at_ns").alias("earlier_ns"),
        F.col("offset").alias("earlier_offset"),
        (~is_done()).alias("fate_unknown"),
    )
    may_be_the_same = F.col("fate_unknown") | (F.col("earlier_offset") >= F.col("offset"))
    retried = (
        late.join(earlier, on=list(_BATCH), how="inner")
        .where((F.col("earlier_ns") < F.col("fenced.handed_ns")) & may_be_the_same)
        .select("connection", "correlation_id", "topic", "partition")
    )
    return _told(late.join(retried, on=retried.columns, how="left_anti"))


def _told(late: DataFrame) -> DataFrame:
    return late.select(
        "at_ns",
        "topic",
        "partition",
        "offset",
        "transactional_id",
        "producer_id",
        F.col("producer_epoch").cast("int").alias("epoch"),
        "instance",
        F.col("fenced.handed_epoch").alias("later_epoch"),
        F.col("fenced.handed_instance").alias("later_instance"),
        ((F.col("at_ns") - F.col("fenced.handed_ns")) / NS).alias("after_s"),
    )


def _after_the_fence(produced: DataFrame, handed: DataFrame) -> DataFrame:
    """What was sent after a later epoch had been handed out, with the first such as `fenced`."""
    fence = F.struct("handed_ns", "handed_epoch", "handed_instance")
    is_later = F.col("handed_epoch") > F.col("producer_epoch")
    return (
        produced.join(handed.drop("transactional_id"), on="producer_id", how="inner")
        .where(is_later & (F.col("handed_ns") < F.col("at_ns")))
        .groupBy(
            "connection",
            "correlation_id",
            "at_ns",
            "instance",
            "transactional_id",
            "producer_id",
            "producer_epoch",
            "topic",
            "partition",
            "offset",
        )
        .agg(F.min(fence).alias("fenced"))
    )


def tell(facts: Mapping[str, Any]) -> str:
    return (
        f"{place(facts)} was accepted from producer {facts['producer_id']}, epoch "
        f"{facts['epoch']} ({facts['transactional_id']}), {facts['after_s']:.1f} s after epoch "
        f"{facts['later_epoch']} had been handed out, which fences it: zombie-write."
    )
