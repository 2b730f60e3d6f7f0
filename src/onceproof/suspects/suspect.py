"""A suspect as the catalog describes it: what it can run, and how its work can be watched."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

ALL_WORKLOADS = ("copy", "dedup", "fold", "last")


class PositionHome(StrEnum):
    """Where a suspect keeps how far it has read; without one, only its output tells."""

    GROUP = "consumer group"  # committed offsets of the group called ONCEPROOF_APP_ID, if any
    SPARK_CHECKPOINT = "spark checkpoint"  # of the query below ONCEPROOF_STATE_DIR/checkpoint
    OWN_TOPIC = "own topic"  # the last record of each partition of ONCEPROOF_APP_ID-offsets
    SQLITE = "sqlite"  # a table below ONCEPROOF_STATE_DIR, with its results in another
    POSTGRES = "postgres"  # the same at ONCEPROOF_DATABASE, on a server that is started for it
    CASSANDRA = "cassandra"  # likewise

    @property
    def is_table(self) -> bool:
        """Then the results are in a table, too, and none of them is sent to a broker."""
        return self in (PositionHome.SQLITE, PositionHome.POSTGRES, PositionHome.CASSANDRA)


class Guarantee(StrEnum):
    """What a suspect claims. What is measured may be another thing."""

    EXACTLY_ONCE = "exactly once"
    AT_LEAST_ONCE = "at least once"
    AT_MOST_ONCE = "at most once"
    NONE = "none"

    @property
    def allows(self) -> frozenset[str]:
        """The anomalies that do not break it."""
        return _ALLOWED[self]


# Who is not fenced may write behind its successor: only "exactly once" keeps the order there.
_ALLOWED = {
    Guarantee.EXACTLY_ONCE: frozenset[str](),
    Guarantee.AT_LEAST_ONCE: frozenset({"duplicated", "reordered"}),
    Guarantee.AT_MOST_ONCE: frozenset({"lost", "reordered"}),
    Guarantee.NONE: frozenset({"lost", "duplicated", "reordered"}),
}


@dataclass(frozen=True, kw_only=True)
class Suspect:
    name: str
    description: str
    argv: tuple[str, ...]
    position: PositionHome
    workloads: tuple[str, ...] = ALL_WORKLOADS
    guarantee: Guarantee | None = None  # None: it depends on its settings, or is not known
    is_liar: bool = False  # planted: it is known not to keep what it claims
    # What to aim at where its output and its position are apart, a frame or a moment in its
    # database; none: they never are, or nobody sees it.
    torn_at: str | None = None
    topics: tuple[str, ...] = ()  # of its own, made for it: ONCEPROOF_APP_ID-<each>
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
    open_prefixes: tuple[str, ...] = ()
    locks_state: bool = False  # two processes cannot share its state directory
    instances_max: int = 16  # a Spark query is one instance: its checkpoint has one owner
