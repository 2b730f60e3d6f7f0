"""invented: an output without input: a unit the input does not have (cumulative: a key)."""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame

from onceproof.checks.case import Case
from onceproof.checks.wording import place, shown


def find(case: Case) -> DataFrame:
    identity = "key" if case.cumulative else "unit"
    understood = case.observed.where("unit IS NOT NULL")
    without_input = understood.join(case.expected.select(identity), on=identity, how="left_anti")
    return without_input.select(
        "topic", "partition", "offset", "key", "unit", shown("payload").alias("payload")
    )


def tell(facts: Mapping[str, Any]) -> str:
    return f"{facts['unit']} ({facts['payload']}) at {place(facts)} has no input: invented."
