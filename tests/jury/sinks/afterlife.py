"""A task that outlives the driver it worked for, as on an executor of another machine.

It does what the real sink does, only slowly: the lane is open when the driver is killed, and its
rows are written when the next driver is about to take the lane.
"""

import os
import pickle
import subprocess
import sys

from choreography import await_note, note

from onceproof.process import CHILD_VARIABLE
from onceproof.sink.errors import SinkError
from onceproof.sink.lane import carry_out, open_lane
from onceproof.sink.reports import LaneReport
from onceproof.sink.rows import LaneRows, unpacked
from onceproof.sink.work import Work


def outlive(work: bytes) -> None:
    """Returns when the lane is open."""
    note("task").write_bytes(work)
    # Without the mark of the instance, and in a session of its own: a kill does not reach it.
    environment = {name: text for name, text in os.environ.items() if name != CHILD_VARIABLE}
    subprocess.Popen([sys.executable, __file__], env=environment, start_new_session=True)
    await_note("task-is-ready")


def main() -> None:
    report, work = pickle.loads(note("task").read_bytes())
    note("task-outcome").with_suffix(".part").write_text(_outcome(report, work))
    note("task-outcome").with_suffix(".part").rename(note("task-outcome"))


def _outcome(report: LaneReport, work: Work) -> str:
    assert report.lane is not None
    opened = open_lane(work.settings, report.lane)
    note("task-is-ready").touch()
    await_note("task-may-commit")
    try:
        rows = LaneRows(unpacked(report.carried), lane=report.partition)
        done = carry_out(opened, work, rows, report.partition)
    except SinkError:
        return "refused"
    return done.state


if __name__ == "__main__":
    main()
