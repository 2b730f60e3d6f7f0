"""stale-offset: OffsetFetch told a position although a later one had been committed before.

    __consumer_offsets   … 60 COMMIT   80 COMMIT          OffsetFetch ──▶ 60: 60 to 79 come again

Only for suspects whose offsets are in transactions: a reader of such offsets is to be told that
they are not stable yet, from the moment they are written until the coordinator has taken them over.
Whoever is told an older position a while after the marker was written is told of an end that was
forgotten. Where offsets were also committed outside transactions (a reset), nothing is said.
"""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from onceproof.checks.case import Case
from onceproof.checks.frames import by_place, exchanges, is_done
from onceproof.checks.wording import place

ASKED = "OffsetFetch"
OF_PARTITION = ["group", "topic", "partition"]
# A reader that does not ask for stable offsets may see a coordinator that is about to take over.
AWAITED_MS = 2_000
MS = 1_000_000


def find(case: Case) -> DataFrame:
    if case.commits is None:
        return case.observed.limit(0)
    plain = case.commits.where("outcome = 'NONE'").select(*OF_PARTITION)
    ended = case.commits.where("outcome = 'COMMITTED' AND marker_ms IS NOT NULL").select(
        *OF_PARTITION,
        F.col("position").alias("later_position"),
        "log_partition",
        "log_offset",
        "marker_ms",
    )
    asked = by_place(exchanges(case, ASKED).where(is_done()), "answered_places")
    known = (F.col("at_ns") / MS).cast("long") - AWAITED_MS
    latest = F.struct("log_offset", "later_position", "log_partition", "marker_ms")
    return (
        asked.join(F.broadcast(ended), on=OF_PARTITION, how="inner")
        .join(F.broadcast(plain), on=OF_PARTITION, how="left_anti")
        .where(F.col("marker_ms") < known)
        .groupBy("connection", "correlation_id", *OF_PARTITION)
        .agg(
            F.max(latest).alias("latest"),
            F.first("at_ns").alias("at_ns"),
            F.first("offset").alias("input_offset"),
            F.first("instance").alias("instance"),
        )
        .where("input_offset < latest.later_position")
        .select(
            "at_ns",
            F.col("topic").alias("input_topic"),
            F.col("partition").alias("input_partition"),
            "input_offset",
            "group",
            "instance",
            "latest.*",
            ((F.col("at_ns") / MS - F.col("latest.marker_ms")) / 1000).alias("late_s"),
        )
    )


def tell(facts: Mapping[str, Any]) -> str:
    log = f"__consumer_offsets-{facts['log_partition']}@{facts['log_offset']}"
    return (
        f"instance {facts['instance']} was told that {place(facts, 'input_')} is committed; "
        f"{facts['later_position']} had been committed {facts['late_s']:.1f} s before, at {log}: "
        f"stale-offset."
    )
