"""What became of each lane, and of the batch: for the leader's decisions and for metrics."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from onceproof.sink.digest import NOTHING


class LaneState(StrEnum):
    COMMITTED = "committed"  # written and committed
    ALREADY = "already"  # a token of this batch was there, and its digest agrees
    DIFFERS = "differs"  # a token of this batch was there, and its digest does not agree
    FOREIGN = "foreign"  # the token belongs to a later batch or to another query
    REFUSED = "refused"  # the brokers will not take it, however often it is tried
    FAILED = "failed"  # by Spark's JVM: the batch is taken up again, the ledger tells what is left
    OUTLASTED = "outlasted"  # its transaction took longer than its timeout
    CARRIED = "carried"  # so few rows that they came to the driver, which is to write them
    MEASURED = "measured"  # only looked at


# A task's answer; `partition` is its Spark partition.
REPORT_SCHEMA = """
    partition long, lane long, state string, rows long, digest string, size long, detail string,
    fence_ms double, read_ms double, write_ms double, commit_ms double, carried binary
"""


@dataclass(frozen=True, kw_only=True)
class LaneReport:
    partition: int
    lane: int | None
    state: str
    rows: int
    digest: str
    size: int = 0  # bytes of its rows, as Arrow holds them
    detail: str = ""  # the ledger entry that decided, or why it was not written
    fence_ms: float = 0.0
    read_ms: float = 0.0
    write_ms: float = 0.0
    commit_ms: float = 0.0
    carried: bytes | None = None


def rows_written(reports: Iterable[LaneReport]) -> int:
    """Now or before. Of a batch that an operator had skipped: none."""
    written = {LaneState.COMMITTED, LaneState.ALREADY}
    return sum(report.rows for report in reports if report.state in written)


def empty_lane(partition: int) -> LaneReport:
    return LaneReport(
        partition=partition,
        lane=partition,
        state=LaneState.CARRIED.value,
        rows=0,
        digest=NOTHING,
    )


@dataclass(frozen=True, kw_only=True)
class BatchReport:
    """The metrics of one batch; `lanes` in the order of their numbers."""

    batch: int
    cut: str
    writer: str  # "jvm": lanes by Spark's own JVM; "python": by Python workers or the driver
    is_replay: bool
    rows: int
    lanes: tuple[LaneReport, ...]
    take_up_ms: float  # what was not made ahead: fence, ledger, ownership
    tasks_ms: float  # Spark's job over the lanes
    driver_lanes_ms: float  # lanes the driver wrote
    total_ms: float
