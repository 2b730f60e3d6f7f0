"""stuck: input left, an instance running, no fault in force, and nothing moves to the drain's end.

    ── feed ──┬── fault ──┬─────────────── drain ───────────────┬── judge
              │ kill      │ started   moved                     │
                                        └──── quiet ≥ limit ────┘

The clock starts again with whatever moves (position or output) and whatever happens to the suspect
or its surroundings (a fault, its end, an instance that starts, first says so or exits). A slow run
is not stuck, and neither is an instance that takes long to start on a busy machine.
"""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from onceproof.checks.case import Case


def find(case: Case) -> DataFrame:
    if case.events is None:
        return case.observed.limit(0)
    events = case.events.where("kind != 'fault' OR detail['applied'] = 'true'")
    quiet = F.col("at_s") - F.col("since_s")
    return (
        _ends_of_drains(_timeline(events))
        .where("remaining > 0 AND running > 0")
        .where(quiet >= case.stuck_after_s)
        .join(F.broadcast(_faults(events)), on=_in_force(), how="left_anti")
        .select("at_s", "since_s", quiet.alias("quiet_s"), "remaining", "position", "output")
    )


def _timeline(events: DataFrame) -> DataFrame:
    """Samples of the run, each with its phase, the instances running and the last disturbance."""
    is_phase = F.col("kind") == "phase"
    # A sample in the millisecond in which a phase begins belongs to the one before.
    by_time = Window.partitionBy(F.lit(0)).orderBy("at_s", is_phase, "kind")
    so_far = by_time.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    step = F.when(F.col("kind") == "started", 1).when(F.col("kind") == "exited", -1).otherwise(0)
    disturbs = F.col("kind").isin("fault", "healed", "started", "exited") | F.col("is_up_now")
    return (
        _with_first_words(events)
        .select(
            "at_s",
            "kind",
            _number("output"),
            _number("position"),
            _number("remaining"),
            F.sum(step).over(so_far).alias("running"),
            F.max(F.when(disturbs, F.col("at_s"))).over(so_far).alias("disturbed_s"),
            F.last(F.when(is_phase, F.col("subject")), ignorenulls=True)
            .over(so_far)
            .alias("phase"),
            F.sum(is_phase.cast("int")).over(so_far).alias("phase_number"),
        )
        .where("kind = 'progress'")
    )


def _with_first_words(events: DataFrame) -> DataFrame:
    """is_up_now: an instance says for the first time since its start that it has started. One that
    begins anew over and over, and says so each time, gets no further.
    """
    says = (F.col("kind") == "said") & (F.col("detail")["event"] == "started")
    in_order = ("at_s", F.col("kind") == "said")
    of_instance = Window.partitionBy("subject").orderBy(*in_order)
    starts = F.sum((F.col("kind") == "started").cast("int")).over(of_instance)
    of_start = Window.partitionBy("subject", "starts").orderBy(*in_order)
    said = F.sum(says.cast("int")).over(of_start.rowsBetween(Window.unboundedPreceding, 0))
    return events.withColumn("starts", starts).withColumn("is_up_now", says & (said == 1))


def _number(name: str) -> Column:
    return F.expr(f"try_cast(detail['{name}'] AS long)").alias(name)


def _ends_of_drains(samples: DataFrame) -> DataFrame:
    """The last sample of each drain, with since_s: how long ago something last happened."""
    by_time = Window.partitionBy(F.lit(0)).orderBy("at_s")
    before = by_time.rowsBetween(-1, -1)
    so_far = by_time.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    progress = F.struct("output", "position")
    is_idle = F.coalesce(F.col("remaining") == 0, F.lit(False))  # it waits for more to be fed
    moved = is_idle | ~progress.eqNullSafe(F.max(progress).over(before))
    last = F.struct("at_s", "since_s", "remaining", "position", "output", "running")
    return (
        samples.withColumn("moved", moved)
        .withColumn("moved_s", F.max(F.when(F.col("moved"), F.col("at_s"))).over(so_far))
        .withColumn("since_s", F.greatest("moved_s", "disturbed_s"))
        .where("phase = 'drain'")
        .groupBy("phase_number")
        .agg(F.max_by(last, "at_s").alias("last"))
        .select("last.*")
    )


def _faults(events: DataFrame) -> DataFrame:
    """fault_s, over_s: a fault ends when its target is healed, or starts again."""
    ends = events.where("kind IN ('healed', 'started')").select(
        F.col("subject").alias("end_subject"), F.col("at_s").alias("end_s")
    )
    same_target = (F.col("subject") == F.col("end_subject")) & (F.col("end_s") >= F.col("at_s"))
    return (
        events.where("kind = 'fault'")
        .join(ends, on=same_target, how="left")
        .groupBy("subject", F.col("at_s").alias("fault_s"))
        .agg(F.min("end_s").alias("over_s"))
    )


def _in_force() -> Column:
    has_begun = F.col("fault_s") <= F.col("at_s")
    goes_on = F.col("over_s").isNull() | (F.col("over_s") > F.col("at_s"))
    return has_begun & goes_on


def tell(facts: Mapping[str, Any]) -> str:
    return (
        f"nothing moved for {facts['quiet_s']:.1f} s (from {facts['since_s']:.1f} s "
        f"to {facts['at_s']:.1f} s of the run) with {facts['remaining']} input records left, "
        f"an instance running and no fault in force: stuck."
    )
