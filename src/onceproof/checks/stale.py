"""stale: the suspect found another state than the input says it must find (workload `last`)."""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame

from onceproof.checks.case import Case
from onceproof.checks.wording import place


def find(case: Case) -> DataFrame:
    return case.observed.where("unit IS NOT NULL AND state_found != state_expected").select(
        "topic", "partition", "offset", "key", "unit", "state_expected", "state_found"
    )


def tell(facts: Mapping[str, Any]) -> str:
    expected, found = facts["state_expected"], facts["state_found"]
    return f"{facts['unit']} expected {expected} but found {found} at {place(facts)}: stale."
