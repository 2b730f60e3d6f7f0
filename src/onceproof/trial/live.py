"""The live validator on this run's output, so that a long loop stops at the first finding."""

from typing import TYPE_CHECKING

from onceproof.history.topic_records import read_topic
from onceproof.trial.stage import Stage
from onceproof.workloads.catalog import workload_named

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from onceproof.checks.live import LiveValidator


def start_live_validator(stage: Stage) -> "LiveValidator":
    from onceproof.checks.live import LiveValidator

    workload = workload_named(stage.plan.scenario.workload)
    options = {"kafka.bootstrap.servers": stage.cluster.bootstrap("judge")}

    def truth(spark: "SparkSession") -> "DataFrame":
        return workload.expected(read_topic(spark, stage.input_topic, options))

    validator = LiveValidator(
        spark=stage.spark,
        topic=stage.output_topic,
        options=options,
        observed=workload.observed,
        checkpoint=stage.directory.state / "live",
        truth=truth,
        cumulative=workload.cumulative,
    )
    validator.start()
    return validator


def end_live_validator(stage: Stage, live: "LiveValidator") -> None:
    """It only helps to stop early: that it broke down is noted, and changes no verdict."""
    crash = live.crash()
    live.stop()
    if crash is not None:
        stage.events.write("note", "live validator", text=f"broke down: {crash}")
