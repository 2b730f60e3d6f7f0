"""What a workload is. Its module, and pyspark with it, comes in on first use: `list` is quick."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from onceproof.workloads.input_plan import InputPlan


class WorkloadModule(Protocol):
    """The four functions of a workload's file."""

    def generate(
        self,
        spark: SparkSession,
        plan: InputPlan,
        from_index: int,
        to_index: int,
        tasks: int | None = None,
    ) -> DataFrame: ...

    def expected(self, records: DataFrame) -> DataFrame: ...

    def observed(self, records: DataFrame) -> DataFrame: ...

    def input_flaws(self, records: DataFrame) -> DataFrame: ...


@dataclass(frozen=True, kw_only=True)
class Workload:
    name: str
    description: str
    cumulative: bool  # an output tells the state so far: later ones stand for those skipped
    fatal: tuple[str, ...] = ("unreadable",)  # flaws of the input that leave no fixed truth

    def generate(
        self,
        spark: SparkSession,
        plan: InputPlan,
        from_index: int,
        to_index: int,
        tasks: int | None = None,
    ) -> DataFrame:
        """key string, value string: the records [from_index, to_index) of the plan."""
        return self._module().generate(spark, plan, from_index, to_index, tasks)

    def expected(self, records: DataFrame) -> DataFrame:
        """EXPECTED out of the input topic as read back (RECORDS)."""
        return self._module().expected(records)

    def observed(self, records: DataFrame) -> DataFrame:
        """OBSERVED out of the output topic as a read_committed reader sees it (RECORDS)."""
        return self._module().observed(records)

    def input_flaws(self, records: DataFrame) -> DataFrame:
        """flaw, partition, offset, key, sentence: everything the injector did not mean to write."""
        return self._module().input_flaws(records)

    def fatal_flaws(self, records: DataFrame) -> DataFrame:
        """The flaws under which nothing can be said of a suspect: if there is one, UNKNOWN."""
        flaws = self.input_flaws(records)
        return flaws.where(flaws["flaw"].isin(*self.fatal))

    def _module(self) -> WorkloadModule:
        return cast(WorkloadModule, importlib.import_module(f"onceproof.workloads.{self.name}"))
