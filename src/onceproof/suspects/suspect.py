"""A suspect as the catalog describes it: what it can run, and how its work can be watched."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

ALL_WORKLOADS = ("copy", "dedup", "fold", "last")


class PositionHome(StrEnum):
    """Where a suspect keeps how far it has read; without one, only its output tells."""

    GROUP = "consumer group"  # committed offsets of the group called ONCEPROOF_APP_ID, if any
    SPARK_CHECKPOINT = "spark checkpoint"  # of the query below ONCEPROOF_STATE_DIR/checkpoint


@dataclass(frozen=True, kw_only=True)
class Suspect:
    name: str
    description: str
    argv: tuple[str, ...]
    position: PositionHome
    workloads: tuple[str, ...] = ALL_WORKLOADS
    # Whether all its output is in transactions. None: not known, so nothing is held against it.
    transactional: bool | None = None
    # Whether the offsets its group has committed are its position. None: not known, as above.
    offsets_in_group: bool | None = None
    # Defaults of what `--set key=value` can change; None: it takes any key (the user's own
    # command).
    settings: Mapping[str, str] | None = field(default_factory=dict)
    spark: bool = False  # needs Spark's jars
    # It takes so long to be at work again after a death, and then catches up at once: a paced
    # input goes on for as long, or there would be nothing left for the next fault to hit.
    back_s: float = 0.0
    # Client ids of its producers, with {app_id} and {instance}; none: not known.
    producer_clients: tuple[str, ...] = ()
    log_evidence: tuple[str, ...] = ()  # a line of its log with one of these belongs to the history
    # Settings beginning so are passed on word for word, whatever comes after.
    open_prefix: str | None = None
    instances_max: int = 16  # a Spark query is one instance: its checkpoint has one owner
