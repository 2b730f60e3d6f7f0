"""lost: commits the token in a transaction of its own, and then the rows.

Killed between the two: the replay takes rows for written that are not there.
"""

import choreography

from onceproof.sink import lane
from onceproof.sink.lane import OpenLane
from onceproof.sink.rows import LaneRows
from onceproof.sink.work import Work

real_write = lane._write


def write_token_then_rows(opened: OpenLane, work: Work, rows: LaneRows) -> tuple[float, float]:
    batches = list(rows)
    transaction = opened.transaction
    transaction.begin()
    transaction.produce_record(lane._token(opened.lane, work, rows))
    transaction.commit()
    if choreography.is_the_moment(work):
        choreography.stand_still()
    transaction.begin()
    for batch in batches:
        transaction.produce_rows(batch, work.settings.topic)
    transaction.commit()
    return 0.0, 0.0


def write_at_the_moment(opened: OpenLane, work: Work, rows: LaneRows) -> tuple[float, float]:
    """Neither rows nor token: the real sink has no moment in which only the token is written."""
    if choreography.is_the_moment(work):
        choreography.stand_still()
    return real_write(opened, work, rows)


if __name__ == "__main__":
    lane._write = write_at_the_moment if choreography.HONEST else write_token_then_rows
    choreography.run()
