"""hanging-transaction: a transaction open on the output although its epoch was replaced.

    out-0   producer 4000, epoch 3: 17 to 21, no marker          InitProducerId ──▶ epoch 4

InitProducerId answers only when whatever was open under the id has its markers. What is open of an
older epoch is therefore unknown to the coordinator: no timeout will end it, and read_committed
readers stop in front of it for good. One that merely waits for its timeout is no finding.
"""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from onceproof.checks.case import Case
from onceproof.checks.frames import INIT, exchanges, handed_out


def find(case: Case) -> DataFrame:
    if case.batches is None:
        return case.observed.limit(0)
    is_open = case.batches.where("outcome = 'UNKNOWN' AND transactional")
    latest = (
        handed_out(exchanges(case, INIT))
        .groupBy("producer_id", "transactional_id")
        .agg(F.max("handed_epoch").alias("later_epoch"))
    )
    return (
        is_open.groupBy("partition", "producer_id", "epoch")
        .agg(
            F.min("base_offset").alias("base_offset"),
            F.max("last_offset").alias("last_offset"),
            F.sum("records").alias("records"),
        )
        .join(F.broadcast(latest), on="producer_id", how="inner")
        .where("epoch < later_epoch")
        .select(
            "partition",
            "base_offset",
            "last_offset",
            "records",
            "transactional_id",
            "producer_id",
            "epoch",
            "later_epoch",
        )
    )


def tell(facts: Mapping[str, Any]) -> str:
    span = f"{facts['base_offset']} to {facts['last_offset']}"
    return (
        f"{span} of the output's partition {facts['partition']}, producer {facts['producer_id']}, "
        f"epoch {facts['epoch']} ({facts['transactional_id']}), have no end, and epoch "
        f"{facts['later_epoch']} has been handed out since; nobody will end them, and "
        f"read_committed readers wait for ever: hanging-transaction."
    )
