"""Requests with their answers, for the checks of the wire.

A frame that could not be decoded may be the very one that acquits or convicts: a check that asks
about its api then cannot tell, and says so by raising.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from onceproof.checks.case import SUSPECTS_LISTENER, Case
from onceproof.errors import OnceproofError

NS = 1_000_000_000
INIT = "InitProducerId"
PRODUCE = "Produce"
OFFSETS = "TxnOffsetCommit"
END = "EndTxn"


def understood(case: Case, *apis: str) -> DataFrame:
    """All frames of suspects that are of these apis."""
    if case.frames is None:
        raise OnceproofError("the wire was not recorded")
    for api in sorted(set(apis) & set(case.traffic)):
        riddle = case.traffic[api].undecoded
        if riddle is not None:
            raise OnceproofError(riddle)
    return case.frames.where((F.col("listener") == SUSPECTS_LISTENER) & F.col("api").isin(*apis))


def exchanges(case: Case, *apis: str) -> DataFrame:
    """A row for each request, with its answer where one came.

    at_ns          when the request was at the proxy: the broker had not seen it yet
    answered_ns    when the broker had acted; null: no answer was seen, it may have acted or not
    error_code     of the answer
    places         as asked; answered_places: as answered, with other offsets or none
    given_id, given_epoch   the producer id and epoch that the answer hands out
    """
    frames = understood(case, *apis)
    requests = frames.where("direction = 'request'").select(
        "connection",
        "correlation_id",
        "at_ns",
        "api",
        "version",
        "instance",
        "transactional_id",
        "producer_id",
        "producer_epoch",
        "committed",
        "group",
        "generation",
        "member",
        "places",
    )
    answers = frames.where("direction = 'response'").select(
        "connection",
        "correlation_id",
        F.col("at_ns").alias("answered_ns"),
        "error_code",
        F.col("places").alias("answered_places"),
        F.col("producer_id").alias("given_id"),
        F.col("producer_epoch").alias("given_epoch"),
    )
    return requests.join(answers, on=["connection", "correlation_id"], how="left")


def is_empty(rows: DataFrame) -> bool:
    """For a check that would go on with joins: most often there is nothing to go on with."""
    return not rows.limit(1).collect()


def handed_out(rows: DataFrame) -> DataFrame:
    """producer_id, handed_epoch, handed_ns, …: what InitProducerId gave to transactional ids."""
    given = rows.where((F.col("api") == INIT) & is_done() & F.col("transactional_id").isNotNull())
    return given.select(
        F.col("given_id").alias("producer_id"),
        F.col("given_epoch").cast("int").alias("handed_epoch"),
        F.col("answered_ns").alias("handed_ns"),
        F.col("instance").alias("handed_instance"),
        "transactional_id",
    )


def by_place(rows: DataFrame, places: str | Column) -> DataFrame:
    """A row for each place: topic, partition, offset beside all else."""
    column = F.col(places) if isinstance(places, str) else places
    return rows.withColumn("place", F.explode(column)).select("*", "place.*").drop("place")


def is_done() -> Column:
    """The broker did what was asked."""
    return F.coalesce(F.col("error_code") == 0, F.lit(False))


def is_refused() -> Column:
    return F.coalesce(F.col("error_code") != 0, F.lit(False))
