"""Runs on the driver. Lanes with few rows, or none: written here, by producers made ahead.

A small lane costs an executor a new producer, a fence and a look at the ledger, each time. The
driver does the same between batches, so that only the commit is left when the rows come.
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from onceproof.sink.ahead import Ahead
from onceproof.sink.errors import RefusedError
from onceproof.sink.lane import OpenLane, carry_out, open_lane, require_manifest
from onceproof.sink.ledger.entries import Entry
from onceproof.sink.reports import LaneReport, LaneState
from onceproof.sink.rows import LaneRows, unpacked
from onceproof.sink.settings import Settings
from onceproof.sink.work import Work

THREADS_MAX = 8


class DriverLanes:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._ahead: dict[int, Ahead[OpenLane]] = {}
        self._open: dict[int, OpenLane] = {}

    def use(self, settings: Settings) -> None:
        self._settings = settings

    def fence_all(self, lanes: int) -> dict[int, Entry | None]:
        """Each lane fenced, then its last entry read; they stay open for the rows to come.

        Now, not ahead: what was read before an earlier attempt knows nothing of what that wrote.
        """
        self.close_open()
        try:
            with ThreadPoolExecutor(THREADS_MAX) as threads:
                return dict(enumerate(threads.map(self._open_anew, range(lanes))))
        except BaseException:
            self.close_open()  # all are done by now: the others would stay open, with their threads
            raise

    def complete(
        self, reports: list[LaneReport], lane_of: Mapping[int, int], work: Work
    ) -> list[LaneReport]:
        """Write the lanes that were carried here; the others are done."""
        reports = [replace(report, lane=lane_of[report.partition]) for report in reports]
        carried = [report for report in reports if report.state == LaneState.CARRIED]
        done = [report for report in reports if report.state != LaneState.CARRIED]
        for report in done:
            self._drop(lane_of[report.partition])  # an executor has fenced what we had ready
        if carried:
            done += self._write_all(carried, work)
        self.close_open()
        if self._comes_in_lanes_again(done):
            for report in carried:
                self._make_ahead(lane_of[report.partition])
        return done

    def _comes_in_lanes_again(self, reports: list[LaneReport]) -> bool:
        """A batch as small as this one has no lanes: what was made ahead would stand idle."""
        small = self._settings.small_batch_bytes
        return small == 0 or sum(report.size for report in reports) > small

    def end_all(self) -> None:
        """Nobody of here fences a lane any more after this."""
        for lane in list(self._ahead):
            self._ahead.pop(lane).end()
        self.close_open()

    def let_go(self) -> None:
        for lane in list(self._ahead):
            self._drop(lane)
        self.close_open()

    def _write_all(self, carried: list[LaneReport], work: Work) -> list[LaneReport]:
        """First all lanes are ours, then the ledger must still say that the batch is, too."""
        with ThreadPoolExecutor(THREADS_MAX) as threads:
            refused = [each for each in threads.map(self._make_ours, carried) if each is not None]
            if refused:
                return refused
            require_manifest(work)
            return list(threads.map(lambda report: self._write(report, work), carried))

    def _make_ours(self, report: LaneReport) -> LaneReport | None:
        """None, or the report of a lane that was refused."""
        lane = _lane_of(report)
        try:
            if lane not in self._open:
                self._open[lane] = self._take(lane)
        except RefusedError as refusal:
            return replace(report, state=LaneState.REFUSED.value, detail=str(refusal))
        return None

    def _write(self, report: LaneReport, work: Work) -> LaneReport:
        rows = LaneRows(unpacked(report.carried), lane=report.partition)
        return carry_out(self._open.pop(_lane_of(report)), work, rows, report.partition)

    def _take(self, lane: int) -> OpenLane:
        ahead = self._ahead.pop(lane, None)
        return open_lane(self._settings, lane) if ahead is None else ahead.take()

    def _open_anew(self, lane: int) -> Entry | None:
        ahead = self._ahead.pop(lane, None)
        if ahead is not None:
            ahead.end()  # or it might fence the one that is made here
        self._open[lane] = open_lane(self._settings, lane)
        return self._open[lane].entry

    def _make_ahead(self, lane: int) -> None:
        settings = self._settings
        self._ahead[lane] = Ahead(lambda: open_lane(settings, lane), _close)

    def _drop(self, lane: int) -> None:
        ahead = self._ahead.pop(lane, None)
        if ahead is not None:
            ahead.drop()
        opened = self._open.pop(lane, None)
        if opened is not None:
            opened.transaction.close()

    def close_open(self) -> None:
        """Those that were fenced for rows which will not come."""
        for lane in list(self._open):
            self._open.pop(lane).transaction.close()


def _lane_of(report: LaneReport) -> int:
    assert report.lane is not None
    return report.lane


def _close(opened: OpenLane) -> None:
    opened.transaction.close()
