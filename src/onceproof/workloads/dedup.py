"""dedup: a fifth of the ids come twice in the input, byte for byte; the output has each once.

The places of a key come in blocks of six: five new ids, then a repeat of an id of the block half
as far from the start, so that the memory a suspect needs grows with the input.

    block c repeats one id of block c div 2          ids    0 1 2 3 4 | 5 6 7 8 9  | 10 …
    (even c one id, odd c another)                   input  0 1 2 3 4 2 | 5 6 7 8 9 0 | 10 …
"""

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from onceproof.workloads import copy
from onceproof.workloads.grid import grid, hashed
from onceproof.workloads.input_plan import InputPlan
from onceproof.workloads.input_records import flaws, made, parsed
from onceproof.workloads.units import expected_units

FRESH_PER_BLOCK = 5
BLOCK = FRESH_PER_BLOCK + 1
TIMES_MAX = 2


def generate(
    spark: SparkSession, plan: InputPlan, from_index: int, to_index: int, tasks: int | None = None
) -> DataFrame:
    blocks = grid(spark, plan, from_index, to_index, tasks).selectExpr(
        "key_number",
        f"place div {BLOCK} AS block",
        f"place % {BLOCK} AS within",
        f"place div {2 * BLOCK} AS source",
    )
    fresh = F.col("block") * FRESH_PER_BLOCK + F.col("within")
    is_repeat = F.col("within") == FRESH_PER_BLOCK
    return made(blocks.withColumn("seq", F.when(is_repeat, _repeated(plan)).otherwise(fresh)), plan)


def _repeated(plan: InputPlan) -> Column:
    """The seq an old block lends: odd blocks never choose the one their even neighbour took."""
    pick = F.pmod(hashed(plan, F.col("key_number"), F.col("source")), F.lit(FRESH_PER_BLOCK))
    neighbour = F.col("block") % 2
    return F.col("source") * FRESH_PER_BLOCK + (pick + neighbour) % FRESH_PER_BLOCK


def expected(records: DataFrame) -> DataFrame:
    return expected_units(parsed(records).withColumn("payload", copy.unchanged()), once=True)


def observed(records: DataFrame) -> DataFrame:
    return copy.observed(records)


def input_flaws(records: DataFrame) -> DataFrame:
    return flaws(records, repeats_meant=TIMES_MAX)
