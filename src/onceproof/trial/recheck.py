"""Judges a stored run again. The data decides; what data cannot tell keeps its reasons."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from onceproof.history.run_directory import RunDirectory
from onceproof.history.verdict import TrialResult
from onceproof.trial.decide import Evidence, decide
from onceproof.trial.judge import CaseFacts, judge_run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def recheck(
    spark: "SparkSession", directory: RunDirectory, stored: TrialResult, case: Mapping[str, Any]
) -> TrialResult:
    """The stored result with fresh findings, counts and verdict."""
    known = {name: value for name, value in case.items() if name not in ("doubts", "no_truth")}
    facts = CaseFacts(**{**known, "checks": tuple(case["checks"])})
    judged = judge_run(spark, directory, facts)
    unknown = [
        f"check {check} could not be carried out: {why}"
        for check, why in judged.judgement.unknown.items()
    ]
    verdict, reasons = decide(
        Evidence(
            findings=judged.judgement.findings,
            faults=stored.faults,
            faults_scheduled=len(stored.faults),
            fed=judged.counts["input"],
            fed_expected=stored.counts.get("input", 0),
            output=judged.counts["output_committed"],
            doubts=[*case["doubts"], *unknown],
            no_truth=case["no_truth"] or judged.input_flaws,
        )
    )
    return replace(
        stored,
        verdict=verdict,
        reasons=reasons,
        counts=judged.counts,
        findings=judged.judgement.findings,
    )
