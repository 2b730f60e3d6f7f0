"""Judges a stored run again. The data decides; what data cannot tell keeps its reasons."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from onceproof.history.run_directory import RunDirectory
from onceproof.history.verdict import TrialResult
from onceproof.trial.judging.decide import Evidence, decide
from onceproof.trial.judging.judge import Besides, CaseFacts, judge_run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def recheck(
    spark: "SparkSession",
    directory: RunDirectory,
    stored: TrialResult,
    facts: CaseFacts,
    besides: Besides,
) -> TrialResult:
    """The stored result with fresh findings, counts and verdict."""
    judged = judge_run(spark, directory, facts)
    verdict, reasons = decide(
        Evidence(
            findings=judged.judgement.findings,
            faults=stored.faults,
            faults_scheduled=besides.faults_scheduled,
            fed=judged.counts["input"],
            fed_expected=besides.fed_expected,
            output=judged.counts["output_committed"],
            doubts=besides.doubts,
            crashed=judged.judgement.unknown,
            no_truth=besides.no_truth or judged.input_flaws,
        )
    )
    return replace(
        stored,
        verdict=verdict,
        reasons=reasons,
        counts=judged.counts,
        findings=judged.judgement.findings,
        checks_off=judged.judgement.off,
    )


def read_case(case: Mapping[str, Any], stored: TrialResult) -> tuple[CaseFacts, Besides]:
    """What run.json has under `case`; TypeError where it is that of another version.

    An older one does not say how much was to be done: what was done counts as that.
    """
    done = {"faults_scheduled": len(stored.faults), "fed_expected": stored.counts.get("input", 0)}
    told = {name: _frozen(value) for name, value in {**done, **case}.items()}
    names = {field.name for field in fields(Besides)}
    besides = Besides(**{name: value for name, value in told.items() if name in names})
    return CaseFacts(**{name: told[name] for name in told if name not in names}), besides


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
