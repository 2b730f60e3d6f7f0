"""The lines with which the sink stops: batch, lane, what it found, and the way out. Pure."""

from collections.abc import Sequence

from onceproof.sink.announcing import TakenUp
from onceproof.sink.errors import (
    LaneError,
    OutlastedError,
    OwnershipError,
    RefusedError,
    ReplayError,
)
from onceproof.sink.ledger.entries import Token
from onceproof.sink.reports import LaneReport, LaneState

SOURCES_TOLD_MAX = 8
_WAY_OUT = (
    "nothing more was written. The query is not deterministic, or its input changed, or an older"
    " sink began the batch, with other digests."
    " Look at it with `python -m onceproof.sink inspect`; then `accept` keeps what is committed and"
    " writes the missing lanes, `skip` writes nothing more of this batch"
)


def refuse(report: LaneReport, taken: TakenUp) -> None:
    """Raise for a lane that was not written, and return for one that was."""
    if report.state == LaneState.FOREIGN:
        raise foreign(taken, report.lane, report.detail)
    if report.state == LaneState.REFUSED:
        raise RefusedError(f"{_place(taken, report.lane)}: {report.detail}")
    if report.state == LaneState.FAILED:
        raise LaneError(f"{_place(taken, report.lane)}: {report.detail}")
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


def does_not_match(taken: TakenUp, token: Token, replayed: LaneReport) -> ReplayError:
    return ReplayError(
        f"{_place(taken, token.lane)}: the replayed rows are not those that were committed;"
        f" replayed {replayed.rows} rows with digest {replayed.digest};"
        f" committed {token.rows} rows with digest {token.digest}; {_WAY_OUT}"
    )


def whole_does_not_match(taken: TakenUp, rows: int, digest: str) -> ReplayError:
    of = taken.manifest
    return ReplayError(
        f"sink {taken.settings.sink_id}, batch {of.batch}: the replayed rows are not those that"
        f" were committed; replayed {rows} rows with digest {digest}; committed"
        f" {of.rows} rows with digest {of.digest}; {_WAY_OUT}"
    )


def other_partitions(taken: TakenUp, now: Sequence[str]) -> ReplayError:
    return ReplayError(
        f"sink {taken.settings.sink_id}, batch {taken.manifest.batch}: it was begun with a lane for"
        f" each of {_listed(taken.manifest.sources)}; its replay has {_listed(now)}; nothing more"
        " was written. Start again with the settings it was begun with (minPartitions) and the same"
        " steps before the sink; or `python -m onceproof.sink skip` writes nothing more of this"
        " batch"
    )


def _listed(sources: Sequence[str]) -> str:
    more = f" and {len(sources) - SOURCES_TOLD_MAX} more" if len(sources) > SOURCES_TOLD_MAX else ""
    return ", ".join(sources[:SOURCES_TOLD_MAX]) + more or "no such partitions"


def _place(taken: TakenUp, lane: int | None) -> str:
    return f"sink {taken.settings.sink_id}, batch {taken.manifest.batch}, lane {lane}"
