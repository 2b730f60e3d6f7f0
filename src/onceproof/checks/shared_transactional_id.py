"""shared-transactional-id: two live instances that take one transactional id from each other.

    a init ── b init ── a: refused ── a init ── b: refused      both live, both think it is theirs
    a init ── a killed ── b init                                a takeover
    a init ── a paused ── b init ── a: refused                  a takeover, and a zombie fenced

It counts when the id comes back to an instance that had lost it, and each of the two still used its
old epoch after the other had been given a newer one. An id may wander with its partitions: nothing
counts during which a group rebalanced, a fault was in the way, or an instance started or ended.
Clients of one instance (Spark's tasks, say) may take turns: they are not looked at.
"""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from onceproof.checks.case import Case
from onceproof.checks.frames import (
    END,
    INIT,
    NS,
    OFFSETS,
    PRODUCE,
    exchanges,
    handed_out,
    is_empty,
    understood,
)

USES = ("AddPartitionsToTxn", "AddOffsetsToTxn", PRODUCE, OFFSETS, END)
JOINS = ("JoinGroup", "SyncGroup", "LeaveGroup")
BEATS = ("Heartbeat", "ConsumerGroupHeartbeat", "StreamsGroupHeartbeat")
_RETURN = ("transactional_id", "producer_id", "first", "second", "third")


def find(case: Case) -> DataFrame:
    if case.events is None or case.began_at_s is None:
        return case.observed.limit(0)
    returns = _returns(handed_out(exchanges(case, INIT)))
    if is_empty(returns):
        return _told(returns.limit(0))
    uses = (
        understood(case, *USES)
        .where("direction = 'request'")
        .select(
            "producer_id",
            "producer_epoch",
            F.col("instance").alias("user"),
            F.col("at_ns").alias("used_ns"),
        )
    )
    returns = _used_after_loss(returns, uses, "first", "second")
    returns = _used_after_loss(returns, uses, "second", "third")
    disturbances = F.broadcast(_disturbances(case.events))
    return _told(
        returns.join(disturbances, on=_falls_inside(case), how="left_anti").join(
            _rebalanced(case, returns), on=["transactional_id", "from_ns"], how="left_anti"
        )
    )


def _told(returns: DataFrame) -> DataFrame:
    return returns.select(
        F.col("third.handed_ns").alias("at_ns"),
        "transactional_id",
        "producer_id",
        F.col("first.handed_instance").alias("instance"),
        F.col("second.handed_instance").alias("other_instance"),
        F.col("first.handed_epoch").alias("epoch"),
        F.col("second.handed_epoch").alias("other_epoch"),
        F.col("third.handed_epoch").alias("epoch_again"),
        ((F.col("to_ns") - F.col("from_ns")) / NS).alias("within_s"),
    )


def _returns(handed: DataFrame) -> DataFrame:
    """first, second, third: three takings in a row, by one instance, another, and the one again."""
    of_id = Window.partitionBy("transactional_id", "producer_id").orderBy("handed_epoch")
    taking = F.struct("handed_ns", "handed_epoch", "handed_instance")
    return (
        handed.select(
            "transactional_id",
            "producer_id",
            taking.alias("first"),
            F.max(taking).over(of_id.rowsBetween(1, 1)).alias("second"),
            F.max(taking).over(of_id.rowsBetween(2, 2)).alias("third"),
        )
        .where("first.handed_instance = third.handed_instance")
        .where("first.handed_instance != second.handed_instance")
        .withColumn("from_ns", F.col("first.handed_ns"))
        .withColumn("to_ns", F.col("third.handed_ns"))
    )


def _used_after_loss(returns: DataFrame, uses: DataFrame, loser: str, winner: str) -> DataFrame:
    """Those where the loser still used an epoch of its own; to_ns is when, if that is later."""
    is_losers = (F.col("user") == F.col(f"{loser}.handed_instance")) & (
        F.col("producer_epoch") >= F.col(f"{loser}.handed_epoch")
    )
    is_old = F.col("producer_epoch") < F.col(f"{winner}.handed_epoch")
    is_after = F.col("used_ns") > F.col(f"{winner}.handed_ns")
    return (
        returns.join(uses, on="producer_id", how="inner")
        .where(is_losers & is_old & is_after)
        .groupBy(*_RETURN, "from_ns", "to_ns")
        .agg(F.min("used_ns").alias("first_use_ns"))
        .withColumn("to_ns", F.greatest("to_ns", "first_use_ns"))
        .drop("first_use_ns")
    )


def _disturbances(events: DataFrame) -> DataFrame:
    """disturbed_s: whatever might make an instance lose what is its own."""
    is_fault = "kind = 'fault' AND detail['applied'] = 'true'"
    return events.where(f"kind IN ('healed', 'started', 'exited') OR ({is_fault})").select(
        F.col("at_s").alias("disturbed_s")
    )


def _falls_inside(case: Case) -> Column:
    at_ns = (F.col("disturbed_s") + F.lit(case.began_at_s)) * NS
    return at_ns.between(F.col("from_ns"), F.col("to_ns"))


def _rebalanced(case: Case, returns: DataFrame) -> DataFrame:
    """transactional_id, from_ns of those during which a group changed its generation."""
    members = understood(case, *JOINS, *BEATS).select(
        F.col("at_ns").alias("beat_ns"), F.col("api").isin(*JOINS).alias("joins"), "generation"
    )
    during = F.col("beat_ns").between(F.col("from_ns"), F.col("to_ns"))
    return (
        members.join(F.broadcast(returns), on=during, how="inner")
        .groupBy("transactional_id", "from_ns")
        .agg(
            F.max("joins").alias("joins"),
            (F.min("generation") != F.max("generation")).alias("changes"),
        )
        .where("joins OR changes")
        .select("transactional_id", "from_ns")
    )


def tell(facts: Mapping[str, Any]) -> str:
    return (
        f"{facts['transactional_id']} went from instance {facts['instance']} (epoch "
        f"{facts['epoch']}) to instance {facts['other_instance']} (epoch {facts['other_epoch']}) "
        f"and back (epoch {facts['epoch_again']}) within {facts['within_s']:.1f} s; each still "
        f"used it, and nothing had happened to either: shared-transactional-id."
    )
