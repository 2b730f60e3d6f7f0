"""What a check is. Its module, and pyspark with it, comes in on first use: `list` is quick."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

from onceproof.checks.case import Case

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

OUTPUT_PLACE = ("topic", "partition", "offset")
INPUT_PLACE = ("input_topic", "input_partition", "input_offset", "unit")


class CheckModule(Protocol):
    """The two functions of a check's file."""

    def find(self, case: Case) -> DataFrame: ...

    def tell(self, facts: Mapping[str, Any]) -> str: ...


def always(case: Case) -> bool:  # noqa: ARG001 - one signature for all conditions
    return True


@dataclass(frozen=True, kw_only=True)
class Check:
    name: str
    description: str
    applies: Callable[[Case], bool] = always
    # False: nothing of the kind can have happened, so no query need be asked.
    can_occur: Callable[[Case], bool] = always
    order: tuple[str, ...] = OUTPUT_PLACE  # columns of `find` that put its rows in order

    def find(self, case: Case) -> DataFrame:
        """One row for each time the anomaly happened, with what a witness needs."""
        return self._module().find(case)

    def tell(self, facts: Mapping[str, Any]) -> str:
        """A row as a sentence."""
        return self._module().tell(facts)

    def _module(self) -> CheckModule:
        file = self.name.replace("-", "_")
        return cast(CheckModule, importlib.import_module(f"onceproof.checks.{file}"))
