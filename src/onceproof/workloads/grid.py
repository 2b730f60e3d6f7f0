"""Which record stands where: each key in one task, in order, among its other keys; no shuffle.

    record i  =  key (i mod K), place (i div K)         task p of P owns the keys k with k mod P = p

    task 0:  key 0 place 0 · key 2 place 0 · key 0 place 1 · key 2 place 1 · …
    task 1:  key 1 place 0 · key 3 place 0 · key 1 place 1 · key 3 place 1 · …

So the order within a key is the same for any P, a task that is retried writes whole keys again
(which shows when the topic is read back), and a slice of the index is made without the rest.
"""

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from onceproof.workloads.input_plan import InputPlan


def grid(
    spark: SparkSession, plan: InputPlan, from_index: int, to_index: int, tasks: int | None = None
) -> DataFrame:
    """key_number long, place long: the records [from_index, to_index) of the plan."""
    wanted = spark.sparkContext.defaultParallelism if tasks is None else tasks
    task_count = max(1, min(wanted, plan.keys))
    keys_per_task = -(-plan.keys // task_count)
    first_place = from_index // plan.keys
    places = -(-to_index // plan.keys) - first_place
    rows_per_task = max(1, keys_per_task * places)
    # Spark cuts a range into equal runs: task p gets [p * rows_per_task, (p + 1) * rows_per_task).
    rows = spark.range(0, task_count * rows_per_task, numPartitions=task_count).selectExpr(
        f"id div {rows_per_task} AS task", f"id % {rows_per_task} AS row"
    )
    cells = rows.selectExpr(
        f"task + (row % {keys_per_task}) * {task_count} AS key_number",
        f"{first_place} + row div {keys_per_task} AS place",
    )
    index = F.col("place") * plan.keys + F.col("key_number")
    is_key = F.col("key_number") < plan.keys
    return cells.where(is_key & (index >= from_index) & (index < to_index))


def hashed(plan: InputPlan, *columns: Column) -> Column:
    """A long out of the seed and these columns only: rand() would depend on the task."""
    return F.xxhash64(F.lit(plan.seed).cast("long"), *columns)
