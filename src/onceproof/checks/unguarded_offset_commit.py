"""unguarded-offset-commit: offsets sent in a transaction without member and generation, of a
partition that went over to another transactional id.

    in-0   a: offset 120, no member ── b: offset 140      nothing would stop a late commit of a

Whoever lost a partition is fenced by its transactional id, if the partition always has the same
one, or by member and generation (KIP-447). Where the id changes, only the second is left. So a
partition that stays with one transactional id needs no member, and is no finding.
"""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from onceproof.checks.case import Case
from onceproof.checks.frames import OFFSETS, by_place, exchanges, is_done
from onceproof.checks.wording import place


def find(case: Case) -> DataFrame:
    commits = by_place(exchanges(case, OFFSETS).where(is_done()), "places")
    of_partition = Window.partitionBy("group", "topic", "partition").orderBy("at_ns")
    following = F.struct("transactional_id", "offset")
    after = F.max(following).over(of_partition.rowsBetween(1, 1))
    has_no_generation = F.coalesce("generation", F.lit(-1)) < 0
    has_no_member = F.coalesce("member", F.lit("")) == ""
    goes_over = F.col("after.transactional_id") != F.col("transactional_id")
    return (
        commits.withColumn("after", after)
        .where(has_no_generation & has_no_member & goes_over)
        .select(
            "at_ns",
            F.col("topic").alias("input_topic"),
            F.col("partition").alias("input_partition"),
            F.col("offset").alias("input_offset"),
            "group",
            "transactional_id",
            "instance",
            F.col("after.transactional_id").alias("next_transactional_id"),
            F.col("after.offset").alias("next_offset"),
        )
    )


def tell(facts: Mapping[str, Any]) -> str:
    return (
        f"{facts['transactional_id']} committed {place(facts, 'input_')} without member and "
        f"generation, then {facts['next_transactional_id']} {facts['next_offset']}; a late commit "
        f"of the first would not have been refused: unguarded-offset-commit."
    )
