"""The lines with which the sink stops: batch, lane, what it found, and the way out. Pure."""

from onceproof.sink.announcing import TakenUp
from onceproof.sink.digest import RowsDigest
from onceproof.sink.errors import OutlastedError, OwnershipError, RefusedError, ReplayError
from onceproof.sink.ledger.entries import Cut, Token
from onceproof.sink.reports import LaneReport, LaneState

_WAY_OUT = (
    "nothing more was written. The query is not deterministic, or its input changed."
    " Look at it with `python -m onceproof.sink inspect`; then `accept` keeps what is committed and"
    " writes the missing lanes, `skip` writes nothing more of this batch"
)


def refuse(report: LaneReport, taken: TakenUp) -> None:
    """Raise for a lane that was not written, and return for one that was."""
    if report.state == LaneState.FOREIGN:
        raise foreign(taken, report.lane, report.detail)
    if report.state == LaneState.REFUSED:
        raise RefusedError(f"{_place(taken, report.lane)}: {report.detail}")
    if report.state == LaneState.OUTLASTED:
        raise OutlastedError(f"{_place(taken, report.lane)}: {report.detail}")
    if report.state == LaneState.DIFFERS:
        raise ReplayError(
            f"{_place(taken, report.lane)}: the replayed rows are not those that were committed;"
            f" replayed {report.rows} rows with digest {report.digest}, committed {report.detail};"
            f" {_WAY_OUT}"
        )


def foreign(taken: TakenUp, lane: int | None, found: str) -> OwnershipError:
    return OwnershipError(
        f"{_place(taken, lane)}: the ledger holds {found}; another query or a later batch owns"
        " this sink"
    )


def does_not_match(taken: TakenUp, token: Token, replayed: list[LaneReport]) -> ReplayError:
    by_keys = taken.manifest.cut == Cut.KEYS
    candidates = [replayed[token.lane]] if by_keys else replayed
    now = ", ".join(f"{report.rows} rows with digest {report.digest}" for report in candidates)
    return ReplayError(
        f"{_place(taken, token.lane)}: the replayed rows are not those that were committed;"
        f" replayed {now}; committed {token.rows} rows with digest {token.digest}; {_WAY_OUT}"
    )


def whole_does_not_match(taken: TakenUp, replayed: RowsDigest) -> ReplayError:
    of = taken.manifest
    return ReplayError(
        f"sink {taken.settings.sink_id}, batch {of.batch}: the replayed rows are not those that"
        f" were committed; replayed {replayed.rows} rows with digest {replayed.hex()}; committed"
        f" {of.rows} rows with digest {of.digest}; {_WAY_OUT}"
    )


def too_many_partitions(taken: TakenUp, partition: int) -> ReplayError:
    return ReplayError(
        f"sink {taken.settings.sink_id}, batch {taken.manifest.batch}: it was begun as"
        f" {taken.manifest.lanes} partitions, and its replay has more (number {partition});"
        " start again with the settings it was begun with (minPartitions,"
        " spark.sql.shuffle.partitions). " + _WAY_OUT
    )


def _place(taken: TakenUp, lane: int | None) -> str:
    return f"sink {taken.settings.sink_id}, batch {taken.manifest.batch}, lane {lane}"
