"""premature-offset: OffsetFetch told a position as committed whose transaction was aborted.

    __consumer_offsets   … 60 COMMIT   80 ABORT          OffsetFetch ──▶ 80: 60 to 79 are skipped

The log is what the coordinator goes by when it loads; what it tells between must be in it. A
position that stands there committed, too, before or after, is no finding: it may be that one. Nor
is one whose transaction is still open: nothing can be said of it yet.
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


def find(case: Case) -> DataFrame:
    if case.commits is None:
        return case.observed.limit(0)
    commit = F.struct("log_partition", "log_offset", "producer_id", "epoch")
    fates = case.commits.groupBy(*OF_PARTITION, "position").agg(
        F.count_if(F.col("outcome") != "ABORTED").alias("others"),
        F.min_by(commit, "log_offset").alias("aborted"),
    )
    never = fates.where("others = 0")
    asked = exchanges(case, ASKED).where(is_done())
    return (
        by_place(asked, "answered_places")
        .withColumnRenamed("offset", "position")
        .join(F.broadcast(never), on=[*OF_PARTITION, "position"], how="inner")
        .select(
            "at_ns",
            F.col("topic").alias("input_topic"),
            F.col("partition").alias("input_partition"),
            F.col("position").alias("input_offset"),
            "group",
            "instance",
            "aborted.*",
        )
    )


def tell(facts: Mapping[str, Any]) -> str:
    log = f"__consumer_offsets-{facts['log_partition']}@{facts['log_offset']}"
    return (
        f"instance {facts['instance']} was told that {place(facts, 'input_')} is committed; in the "
        f"log that position stands only at {log}, in a transaction of producer "
        f"{facts['producer_id']}, epoch {facts['epoch']} that was aborted: premature-offset."
    )
