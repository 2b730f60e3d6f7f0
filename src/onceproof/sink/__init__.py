"""An exactly-once Kafka sink for PySpark. Usable alone: it imports nothing else of onceproof.

from onceproof.sink import exactly_once_kafka

df.writeStream.outputMode("update").foreachBatch(
    exactly_once_kafka(sink_id="orders", topic="out", options={"kafka.bootstrap.servers": "…"})
).option("checkpointLocation", "…").start()

                   driver (leader.py)                      executors (task.py), one task a lane
batch b ──▶ fence, read the ledger ─┬▶ manifest of b ──┬─▶ fence ─▶ read own token ─▶ decide
            (announcing.py)         │  (laned.py)      │    rows + token of b in ONE transaction
                                    │                  └─▶ few rows: the same, by the driver itself
                                    └▶ a small batch: rows + manifest in ONE transaction (whole.py),
                                       any batch where Spark is one JVM (jvm/whole.py)
                   ledger: a compacted topic, partition 0 for manifests, n+1 for lane n's tokens
"""

from typing import TYPE_CHECKING, Any

from onceproof.sink.errors import LaneError, OwnershipError, RefusedError, ReplayError, SinkError
from onceproof.sink.reports import BatchReport, LaneReport

if TYPE_CHECKING:
    from onceproof.sink.leader import ExactlyOnceKafka, exactly_once_kafka

__all__ = [
    "BatchReport",
    "ExactlyOnceKafka",
    "LaneError",
    "LaneReport",
    "OwnershipError",
    "RefusedError",
    "ReplayError",
    "SinkError",
    "exactly_once_kafka",
]


def __getattr__(name: str) -> Any:
    """What needs a Kafka client comes late: an executor without one must be able to say so."""
    if name in {"ExactlyOnceKafka", "exactly_once_kafka"}:
        from onceproof.sink import leader

        return getattr(leader, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
